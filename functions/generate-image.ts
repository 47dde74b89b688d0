import { withCatalog } from '../service/api/admit.ts';
import { serve } from '../service/api/serve.ts';
import { generateImage } from '../service/generate/generate-image.ts';
import { openSubmit } from '../service/generate/open.ts';
import { base } from '../service/platform/lambda-base.ts';
import { catalog, dynamodb, images, outbound, resultSigner, states } from '../service/platform/lambda.ts';
import { atFirstRequest } from '../service/platform/common.ts';

/** The operation as the API calls it, with a key. The portal calls it with a session. */
export const handler = serve(
  'post',
  withCatalog(generateImage),
  atFirstRequest(() =>
    openSubmit({
      ...base(),
      dynamodb: dynamodb(),
      resultSigner: resultSigner(),
      states: states(),
      images,
      outbound: outbound(),
      catalog,
    }),
  ),
);

import { serve } from '../http/serve.ts';
import { withCatalog } from '../http/with-catalog.ts';
import { atFirstRequest } from '../services/open.ts';
import { openSubmit } from '../services/submit.ts';
import { base, catalog, dynamodb, images, outbound, states } from '../services/lambda.ts';
import { generateImage } from './generate/generate-image.ts';

/** The operation as the API calls it, with a key. The portal calls it with a session. */
export const handler = serve(
  'post',
  withCatalog(generateImage),
  atFirstRequest(() =>
    openSubmit({
      ...base(),
      dynamodb: dynamodb(),
      states: states(),
      images,
      outbound: outbound(),
      catalog,
    }),
  ),
);

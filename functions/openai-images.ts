import { withCatalog } from '../service/api/admit.ts';
import { heldRequestMillis } from '../service/contract/limits.ts';
import { openOpenaiImages } from '../service/openai/open.ts';
import { openaiImages } from '../service/openai/openai-images.ts';
import { serveOpenai } from '../service/openai/serve-openai.ts';
import { base } from '../service/platform/lambda-base.ts';
import { catalog, dynamodb, images, outbound, resultSigner, states } from '../service/platform/lambda.ts';
import { atFirstRequest } from '../service/platform/common.ts';

export const handler = serveOpenai(
  withCatalog(openaiImages),
  atFirstRequest(() =>
    openOpenaiImages({
      ...base(),
      dynamodb: dynamodb(),
      resultSigner: resultSigner(),
      states: states(),
      images,
      outbound: outbound(),
      catalog,
    }),
  ),
  heldRequestMillis,
);

import { heldRequestMillis } from '../../core/limits.ts';
import { withCatalog } from '../http/with-catalog.ts';
import { atFirstRequest } from '../services/open.ts';
import { openOpenaiImages } from '../services/openai-images.ts';
import { base, catalog, dynamodb, images, outbound, states } from '../services/lambda.ts';
import { serveOpenai } from './http/serve-openai.ts';
import { openaiImages } from './images/openai-images.ts';

/** POST /images/generations and /images/edits. */
export const handler = serveOpenai(
  withCatalog(openaiImages),
  atFirstRequest(() =>
    openOpenaiImages({
      ...base(),
      dynamodb: dynamodb(),
      states: states(),
      images,
      outbound: outbound(),
      catalog,
    }),
  ),
  heldRequestMillis,
);

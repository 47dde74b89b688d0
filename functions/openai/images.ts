import { heldRequestMillis } from '../../core/limits.ts';
import { withCatalog } from '../http/with-catalog.ts';
import { atFirstRequest } from '../services/open.ts';
import { openaiImageServices } from '../services/openai-images.ts';
import { serveOpenai } from './http/serve-openai.ts';
import { openaiImages } from './images/openai-images.ts';

/** POST /images/generations and /images/edits. */
export const handler = serveOpenai(
  withCatalog(openaiImages),
  atFirstRequest(openaiImageServices),
  heldRequestMillis,
);

import { serve } from '../http/serve.ts';
import { withCatalog } from '../http/with-catalog.ts';
import { atFirstRequest } from '../services/open.ts';
import { quoteServices } from '../services/api.ts';
import { quoteImage } from './generate/quote-image.ts';

/** The operation as the API calls it, with a key. The portal calls it with a session. */
export const handler = serve('post', withCatalog(quoteImage), atFirstRequest(quoteServices));

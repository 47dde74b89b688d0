import { serve } from '../http/serve.ts';
import { withCatalog } from '../http/with-catalog.ts';
import { atFirstRequest } from '../services/open.ts';
import { openQuote } from '../services/api.ts';
import { base, catalog, dynamodb } from '../services/lambda.ts';
import { quoteImage } from './generate/quote-image.ts';

/** The operation as the API calls it, with a key. The portal calls it with a session. */
export const handler = serve(
  'post',
  withCatalog(quoteImage),
  atFirstRequest(() => openQuote({ ...base(), dynamodb: dynamodb(), catalog })),
);

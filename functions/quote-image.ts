import { withCatalog } from '../service/api/admit.ts';
import { openQuote } from '../service/api/open.ts';
import { serve } from '../service/api/serve.ts';
import { quoteImage } from '../service/generate/quote-image.ts';
import { base } from '../service/platform/lambda-base.ts';
import { catalog, dynamodb } from '../service/platform/lambda.ts';
import { atFirstRequest } from '../service/platform/common.ts';

/** The operation as the API calls it, with a key. The portal calls it with a session. */
export const handler = serve(
  'post',
  withCatalog(quoteImage),
  atFirstRequest(() => openQuote({ ...base(), dynamodb: dynamodb(), catalog })),
);

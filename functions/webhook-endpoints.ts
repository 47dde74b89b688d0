import { serve } from '../service/api/serve.ts';
import { atFirstRequest } from '../service/platform/common.ts';
import { base } from '../service/platform/lambda-base.ts';
import { dynamodb, outbound } from '../service/platform/lambda.ts';
import { openEndpoints } from '../service/webhooks/open-endpoints.ts';
import { webhookEndpoints } from '../service/webhooks/webhook-endpoints.ts';

/** Lists, adds, changes and deletes the endpoints of an account: four rare operations, one function. */
export const handler = serve(
  'by method',
  webhookEndpoints,
  atFirstRequest(() => openEndpoints({ ...base(), dynamodb: dynamodb(), outbound: outbound() })),
);

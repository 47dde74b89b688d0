import * as z from 'zod/mini';
import { readClientUrl } from '../../../core/client-url.ts';
import { deliveryDetail } from '../../../core/portal/delivery-view.ts';
import type { TestedView } from '../../../core/portal/views.ts';
import { invalidRequest, retryLater } from '../../../core/problem.ts';
import { sendTestDelivery } from '../../../core/webhook-operations.ts';
import { testDeliverySeconds } from '../../../core/webhook.ts';
import type { ManageServices } from '../../services/portal-manage.ts';
import { parseBody } from '../http/body.ts';
import type { PortalHandle } from '../http/caller.ts';
import { noSecret, orLost } from './secrets.ts';

const testSchema = z.strictObject({ url: z.string() });

/** POST /webhooks/test: one signed attempt to any address that a webhook may have, once in 30 seconds. */
export const testWebhook: PortalHandle<'testWebhook', ManageServices> = async (request, caller, services) => {
  const refused = (code: string, message: string) => invalidRequest([{ field: 'url', code, message }]);
  const { url } = parseBody(request, testSchema);
  const read = readClientUrl(url, 'webhook', services.outboundRules);
  if (read.kind === 'refused') throw refused(read.code, read.why);
  const outcome = await orLost(() => sendTestDelivery(caller.account, url, services));
  switch (outcome.kind) {
    case 'refused':
      throw refused('refused_target', outcome.why);
    case 'no_secret':
      throw noSecret();
    case 'too_soon': {
      const message = `An account may send one test delivery in ${testDeliverySeconds} seconds.`;
      const details = { reason: 'test_interval', interval_seconds: testDeliverySeconds };
      throw retryLater('ERR_RATE_LIMIT', message, details, outcome.afterSeconds);
    }
    case 'sent':
      return {
        status: 200,
        body: { delivery: deliveryDetail(outcome.delivery, undefined, false) } satisfies TestedView,
        logged: { target: outcome.delivery.id, note: read.url.host },
      };
  }
};

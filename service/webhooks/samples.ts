/**
 * Samples of everything that the service sends to an account, made by the same code. A test delivery sends
 * them, and the portal and the document show them. Their ids do not exist.
 */
import { endpointParts, noticeBody, type NoticeType, partsOf } from '../notices/notice.ts';
import { paymentParts } from '../notices/payment-parts.ts';
import type { CreationId, KeyId, NoticeId } from '../values/ids.ts';
import { asMicros } from '../values/money.ts';
import { type EndpointEvent, failingMillis } from './endpoint.ts';
import type { Delivery } from './delivery.ts';
import { webhookBody } from './webhook.ts';

export const nilId = '00000000-0000-0000-0000-000000000000' as CreationId;
const nilNotice = `ntc_${nilId}` as NoticeId;

/** The endpoint in the samples of endpoint.failing and endpoint.disabled. */
const someEndpoint = { id: 'we_00000000000000', url: 'https://example.com/hooks' };
const somePayment = {
  id: `pay_0000000000_${nilId}`,
  kind: 'checkout',
  amountMicros: asMicros(20_000_000),
} as const;
const payUrl = 'https://example.com/portal/wallet';
const amounts = { limit: asMicros(20_000_000), spent: asMicros(16_000_000) };
const wallet = { availableMicros: asMicros(0), lowBalanceMicros: asMicros(5_000_000) };

/**
 * The body of a sample, the same bytes for the same values.
 * @param at when it was sent, RFC 3339
 * @param endpoint to which it is sent
 */
export function sampleBody(event: EndpointEvent, at: string, endpoint = someEndpoint): string {
  const creation = {
    ...{ id: nilId, costMicros: asMicros(0), metadata: { test: 'true' } },
    ...{ createdAt: at, completedAt: at },
  };
  const notice = (type: NoticeType, parts: Readonly<Record<string, unknown>>): string =>
    noticeBody(type, nilNotice, at, parts);
  const since = (failed: keyof typeof failingMillis): number => Date.parse(at) - failingMillis[failed];
  const period = at.slice(0, 7);
  switch (event) {
    case 'creation.completed':
      return webhookBody({ ...creation, status: 'completed' }, []);
    case 'creation.failed':
      return webhookBody({ ...creation, status: 'failed', failure: 'GenerationFailed' }, []);
    case 'wallet.low':
      return notice(event, partsOf(wallet, { type: event, thresholdMicros: wallet.lowBalanceMicros }));
    case 'wallet.empty':
      return notice(event, partsOf(wallet, { type: event, neededMicros: asMicros(40_000) }));
    case 'key.cap_reached':
      return notice(
        event,
        partsOf(wallet, {
          ...{ type: event, apiKey: { id: 'sample' as KeyId, name: 'sample' }, cap: 'monthly', period },
          ...{ level: 80, capMicros: amounts.limit, spentMicros: amounts.spent },
        }),
      );
    case 'budget.reached':
      return notice(
        event,
        partsOf(wallet, {
          ...{ type: event, month: period, level: 80 },
          ...{ budgetMicros: amounts.limit, spentMicros: amounts.spent },
        }),
      );
    case 'webhook.failing':
      return notice(event, partsOf(wallet, { type: event, failures: 10 }));
    case 'endpoint.failing':
      return notice(event, endpointParts(wallet, endpoint, since('told')));
    case 'endpoint.disabled':
      return notice(event, endpointParts(wallet, endpoint, since('disabled')));
    case 'payment.received':
      return notice(event, paymentParts(wallet, { type: event, payment: somePayment }, payUrl));
    case 'payment.failed': {
      const failed = {
        payment: { ...somePayment, kind: 'auto' },
        reason: 'declined',
        isPaused: true,
      } as const;
      return notice(event, paymentParts(wallet, { type: event, ...failed }, payUrl));
    }
    case 'payment.reversed': {
      const reversed = {
        payment: somePayment,
        reason: 'refund',
        amountMicros: asMicros(-20_000_000),
      } as const;
      return notice(event, paymentParts(wallet, { type: event, ...reversed }, payUrl));
    }
  }
}

/** The body of a test delivery, as it was sent. */
export function sampleBodyOf({ event, startedAt, url, endpointId: id = someEndpoint.id }: Delivery): string {
  return sampleBody(event as EndpointEvent, startedAt, { id, url });
}

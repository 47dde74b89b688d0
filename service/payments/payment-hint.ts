/**
 * Finds the payment of a Stripe event. Only the ids of the event are used: its data may be old, and events
 * may come repeated or in any order. The metadata at Stripe names the payment, and only our key can write it.
 */
import { type AccountId, timeOfUuidV7 } from '../values/ids.ts';
import { asMicros } from '../values/money.ts';
import { monthOf } from '../values/time.ts';
import { type Followed, followPayment, type FollowServices } from './follow-payment.ts';
import { partsOf, type PaymentId, type StripePayment } from './payment.ts';
import type { StripeOutcome } from './stripe/client.ts';
import type { StripeEvent, StripeMetadata, StripePaymentIntent } from './stripe/objects.ts';

/** The events that can change what an account gets. */
export const eventTypes: readonly string[] = [
  'checkout.session.completed',
  'checkout.session.async_payment_succeeded',
  'checkout.session.async_payment_failed',
  'checkout.session.expired',
  'payment_intent.succeeded',
  'payment_intent.processing',
  'payment_intent.payment_failed',
  'payment_intent.canceled',
  'refund.created',
  'refund.updated',
  'refund.failed',
  'charge.refunded',
  'charge.dispute.created',
  'charge.dispute.updated',
  'charge.dispute.funds_withdrawn',
  'charge.dispute.funds_reinstated',
  'charge.dispute.closed',
];

/** 'ignored': the event is of another mode, or of something that this service did not begin. */
export type Hinted = Followed | { readonly kind: 'ignored' };

const ignored = { kind: 'ignored' } as const;

export async function followHint(services: FollowServices, event: StripeEvent): Promise<Hinted> {
  if (!eventTypes.includes(event.type) || event.livemode !== (await services.livemode())) return ignored;
  const found = await paymentOf(services, event);
  return 'accountId' in found ? followPayment(services, found) : found;
}

/** The payment of a PaymentIntent. */
export async function followIntent(services: FollowServices, paymentIntent: string): Promise<Hinted> {
  const found = await named(services, await services.stripe.getPaymentIntent(paymentIntent), rebuilt);
  return 'accountId' in found ? followPayment(services, found) : found;
}

/** What payments of ours carry at Stripe. */
export function metadataOf({ id, accountId, kind, amountMicros }: StripePayment): StripeMetadata {
  return { payment: id, account: accountId, kind, amount: String(amountMicros) };
}

async function paymentOf(
  services: FollowServices,
  { type, paymentIntent, objectId }: StripeEvent,
): Promise<StripePayment | Hinted> {
  if (paymentIntent === null) {
    if (!type.startsWith('checkout.session.')) return ignored;
    return named(services, await services.stripe.getSession(objectId), () => undefined);
  }
  const intent = await services.stripe.getPaymentIntent(paymentIntent);
  return named(services, intent, rebuilt);
}

/** @param lost builds the payment from Stripe's data when the table has no record, as after a restore */
async function named<Found extends { readonly metadata: StripeMetadata }>(
  { payments }: FollowServices,
  outcome: StripeOutcome<Found>,
  lost: (found: Found, id: PaymentId, account: AccountId) => StripePayment | undefined,
): Promise<StripePayment | Hinted> {
  if (outcome.kind === 'refused') return ignored;
  if (outcome.kind === 'unknown') return { kind: 'later', why: outcome.why };
  const id = outcome.object.metadata['payment'] ?? '';
  const parts = partsOf(id);
  if (!parts) return ignored;
  const stored = await payments.read(id as PaymentId);
  return stored ?? lost(outcome.object, id as PaymentId, parts.account) ?? ignored;
}

/** Undefined: there is nothing to credit. */
function rebuilt(
  { id: paymentIntent, status, metadata, livemode, customer }: StripePaymentIntent,
  id: PaymentId,
  accountId: AccountId,
): StripePayment | undefined {
  const { kind, amount } = metadata;
  const began = timeOfUuidV7(partsOf(id)?.uuid ?? '');
  if (status !== 'succeeded' || began === undefined || !/^[1-9]\d{0,14}$/.test(amount ?? ''))
    return undefined;
  if (kind !== 'checkout' && kind !== 'auto') return undefined;
  return {
    id,
    accountId,
    kind,
    state: 'open',
    amountMicros: asMicros(Number(amount)),
    reversedMicros: asMicros(0),
    version: 0,
    month: monthOf(began),
    livemode,
    paymentIntent,
    ...(customer !== null && { customer }),
    at: new Date(began).toISOString(),
  };
}

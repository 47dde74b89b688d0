/** Automatic payments: one begins, and its saved card is charged. */
import type { AccountId } from '../values/ids.ts';
import { asMicros, microsOfCent } from '../values/money.ts';
import type { Log, RandomBytes } from '../values/runtime.ts';
import { monthOf } from '../values/time.ts';
import type { AutoTopUpStore } from './auto-top-up-store.ts';
import { type AutoTopUp, hasRoom } from './auto-top-up.ts';
import { end, endPaused, type Followed, followPayment, type FollowServices } from './follow-payment.ts';
import { followIntent, metadataOf } from './payment-hint.ts';
import { newPaymentId, partsOf, type PaymentId, type StripePayment } from './payment.ts';
import type { NotBegun } from './stripe-payment-store.ts';

export interface TopUpServices extends FollowServices {
  readonly log: Log;
  readonly randomBytes: RandomBytes;
  readonly topUps: AutoTopUpStore;
}

export type ToppedUp = Followed | { readonly kind: 'not_begun'; readonly why: NotBegun | 'not_running' };

/** Begins a payment for an account that has less than its threshold, and charges its card. */
export async function topUp(services: TopUpServices, account: AccountId): Promise<ToppedUp> {
  const { clock, randomBytes, topUps, payments } = services;
  const top = await topUps.read(account);
  const { choice, card, customer } = top;
  const isRunning = top.isOn && top.paused === undefined && top.open === undefined;
  if (!isRunning || !choice || !card || customer === undefined)
    return { kind: 'not_begun', why: 'not_running' };
  const nowMillis = clock.now();
  if (hasRoom(top, monthOf(nowMillis)) && !(await isUpToDate(services, account, customer)))
    return { kind: 'not_begun', why: 'behind' };
  const payment: StripePayment = {
    id: newPaymentId(account, nowMillis, randomBytes(16)),
    accountId: account,
    kind: 'auto',
    state: 'open',
    amountMicros: choice.amountMicros,
    reversedMicros: asMicros(0),
    version: 1,
    month: monthOf(nowMillis),
    livemode: await services.livemode(),
    customer,
    paymentMethod: card.paymentMethod,
    at: new Date(nowMillis).toISOString(),
  };
  const begun = await payments.beginAuto(payment, top);
  if (begun === 'monthly_cap') await notifyCap(services, top, payment.month);
  return begun === 'begun' ? charge(services, payment) : { kind: 'not_begun', why: begun };
}

/**
 * Whether the table knows the last automatic payment that Stripe took, or is about to take. After a restore it may not:
 * the money of that payment comes first. Stripe lists the newest first.
 */
async function isUpToDate(services: TopUpServices, account: AccountId, customer: string): Promise<boolean> {
  const listed = await services.stripe.listPaymentIntents(customer);
  if (listed.kind !== 'ok') return false;
  const last = listed.object.items.find(
    ({ metadata, status }) =>
      metadata['kind'] === 'auto' &&
      metadata['account'] === account &&
      (status === 'succeeded' || status === 'processing'),
  );
  const id = last?.metadata['payment'] ?? '';
  // Without its id the payment cannot be found here.
  if (!last || !partsOf(id) || (await services.payments.read(id as PaymentId))) return true;
  await followIntent(services, last.id);
  return false;
}

async function notifyCap(
  { paymentNotices, payments }: TopUpServices,
  top: AutoTopUp,
  month: string,
): Promise<void> {
  if (top.capTold === month) return;
  const news = { type: 'payment.failed', payment: null, reason: 'monthly_cap', isPaused: false } as const;
  const notice = await paymentNotices.prepare(top.accountId, news, asMicros(0));
  if (await payments.storeCapNotice(top, month, notice)) await paymentNotices.stored(top.accountId, notice);
}

/** Charges the card. A repetition names the same Idempotency-Key, so that Stripe makes one PaymentIntent. */
async function charge(services: TopUpServices, payment: StripePayment): Promise<Followed> {
  const { stripe, payments } = services;
  const { id, amountMicros, customer = '', paymentMethod = '' } = payment;
  const outcome = await stripe.createPaymentIntent(
    {
      amountCents: amountMicros / microsOfCent,
      customer,
      paymentMethod,
      description: 'Automatic top-up',
      metadata: metadataOf(payment),
    },
    `dr_${id}`,
  );
  if (outcome.kind === 'unknown') return { kind: 'later', why: outcome.why };
  const paymentIntent = outcome.kind === 'ok' ? outcome.object.id : outcome.paymentIntent;
  if (paymentIntent !== null) {
    await payments.note(id, { paymentIntent });
    return followPayment(services, { ...payment, paymentIntent });
  }
  // Stripe made nothing, so nothing can succeed later.
  return outcome.kind === 'refused'
    ? end(services, payment, outcome.error.declineCode ?? outcome.error.code)
    : { kind: 'later', why: 'not_found' };
}

const hour = 60 * 60_000;
/** Stripe keeps an Idempotency-Key for at least 24 hours. A later repetition could charge the card once more. */
const repeatableMillis = 23 * hour;
/** After a day the outcome of the call can no longer be read. */
const doubtMillis = 24 * hour;

/** Follows a payment that is due, and repeats the call of an automatic one that Stripe does not know. */
export async function followDue(services: TopUpServices, payment: StripePayment): Promise<Followed> {
  const followed = await followPayment(services, payment);
  const isLost = followed.kind === 'later' && followed.why === 'not_found' && payment.state === 'open';
  if (!isLost || payment.kind !== 'auto') return followed;
  const age = services.clock.now() - Date.parse(payment.at);
  if (age < repeatableMillis) return charge(services, payment);
  if (age < doubtMillis) return followed;
  await endPaused(services, payment, 'unknown', 'unknown');
  services.log.alarm('payment_unknown', { paymentId: payment.id, accountId: payment.accountId });
  return { kind: 'ended' };
}

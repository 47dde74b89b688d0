/**
 * Updates the record of a payment and the wallet from the state at Stripe. An event, the page after a payment
 * and the listing are only hints to read Stripe again. So the account gets the same amount when hints are
 * reordered, repeated or lost.
 */
import type { AccountId } from '../values/ids.ts';
import type { PaymentNews } from '../notices/payment-parts.ts';
import { asMicros, type Micros, microsOfCent } from '../values/money.ts';
import type { Clock } from '../values/runtime.ts';
import type { SavedCard } from './auto-top-up.ts';
import type { StripePayment } from './payment.ts';
import type { Stripe, StripeDoubt, StripeOutcome } from './stripe/client.ts';
import type { StripePage, StripePaymentIntent } from './stripe/objects.ts';
import type { StripePaymentStore } from './stripe-payment-store.ts';
import type { PaymentNotices } from './payment-notices.ts';

export interface FollowServices {
  readonly stripe: Stripe;
  readonly payments: StripePaymentStore;
  readonly paymentNotices: PaymentNotices;
  readonly clock: Pick<Clock, 'now'>;
  /** Whether the key of the service takes real money. */
  readonly livemode: () => Promise<boolean>;
  /** Suspends the account of a disputed payment. Absent: the account stays active. */
  readonly suspend?: (account: AccountId) => Promise<void>;
}

export type Followed =
  /** 'waiting': nobody has paid yet. 'processing': the money is on its way. 'ended': it failed or expired. */
  | { readonly kind: 'succeeded' | 'waiting' | 'processing' | 'ended' }
  /** No money was moved, and a person must check the payment. */
  | { readonly kind: 'held'; readonly why: HeldReason; readonly isNew: boolean }
  /** Stripe did not say. The next check asks again. */
  | { readonly kind: 'later'; readonly why: StripeDoubt | 'refused' | 'not_found' | 'changed' };

export type HeldReason =
  | 'other_mode'
  | 'other_payment'
  | 'other_currency'
  | 'too_little'
  /** The account cannot hold so much, or there is no such account. */
  | 'no_room';

/** Stripe did not say what the work needs to know. */
export class NotSaid extends Error {
  readonly why: Extract<Followed, { kind: 'later' }>['why'];

  constructor(why: NotSaid['why']) {
    super(why);
    this.why = why;
  }
}

export async function followPayment(services: FollowServices, payment: StripePayment): Promise<Followed> {
  try {
    const found = await intentOf(services, payment);
    return found === 'waiting' || found === 'expired'
      ? await withoutIntent(services, payment, found)
      : await withIntent(services, payment, found);
  } catch (error) {
    if (error instanceof NotSaid) return { kind: 'later', why: error.why };
    throw error;
  }
}

async function withoutIntent(
  { payments }: FollowServices,
  { id }: StripePayment,
  session: 'waiting' | 'expired',
): Promise<Followed> {
  if (session === 'waiting') return { kind: 'waiting' };
  await payments.fail(id, { state: 'expired' });
  return { kind: 'ended' };
}

async function withIntent(
  services: FollowServices,
  payment: StripePayment,
  intent: StripePaymentIntent,
): Promise<Followed> {
  switch (intent.status) {
    case 'succeeded':
      return credit(services, payment, intent);
    case 'processing':
      return { kind: 'processing' };
    case 'canceled':
      return end(services, payment, intent.failureCode);
    default:
      // On the page of Stripe a person may try another card. An automatic payment has no second try.
      return payment.kind === 'auto'
        ? giveUp(services, payment, intent)
        : openSession(services, payment, intent);
  }
}

/**
 * The PaymentIntent of the payment. Without one, the state of Stripe's page, on which no card was tried yet.
 */
async function intentOf(
  { stripe, payments, clock }: FollowServices,
  { id, kind, customer, session, paymentIntent, at }: StripePayment,
): Promise<StripePaymentIntent | 'waiting' | 'expired'> {
  if (paymentIntent !== undefined) return answerOf(await stripe.getPaymentIntent(paymentIntent));
  if (kind === 'auto') {
    // The answer to its creation was lost. The PaymentIntent has our own id in its metadata.
    const all = await everyItem((after) => stripe.listPaymentIntents(customer ?? '', after));
    const listed = all.find(({ metadata }) => metadata['payment'] === id);
    if (!listed) throw new NotSaid('not_found');
    await payments.note(id, { paymentIntent: listed.id });
    return listed;
  }
  // When the answer with the page was lost, nobody got its address.
  if (session === undefined) return clock.now() - Date.parse(at) > lostPageMillis ? 'expired' : 'waiting';
  const { paymentIntent: intent, status, customer: payer } = answerOf(await stripe.getSession(session));
  if (intent === null) return status === 'expired' ? 'expired' : 'waiting';
  await payments.note(id, { paymentIntent: intent, ...(payer !== null && { customer: payer }) });
  return answerOf(await stripe.getPaymentIntent(intent));
}

/** Longer than a page to pay on lives. */
const lostPageMillis = 60 * 60_000;

/** A card was tried, and another one may be tried until the page expires, or until money was on its way. */
async function openSession(
  services: FollowServices,
  payment: StripePayment,
  { failureCode }: StripePaymentIntent,
): Promise<Followed> {
  const { session } = payment;
  if (session === undefined) return { kind: 'waiting' };
  const { status } = answerOf(await services.stripe.getSession(session));
  if (status === 'complete') return end(services, payment, failureCode);
  return withoutIntent(services, payment, status === 'expired' ? 'expired' : 'waiting');
}

async function credit(
  services: FollowServices,
  payment: StripePayment,
  intent: StripePaymentIntent,
): Promise<Followed> {
  const { payments, paymentNotices } = services;
  const { accountId, amountMicros } = payment;
  const why = await whyHeld(services, payment, intent);
  if (why !== undefined) return held(services, payment, why);
  const notice = await paymentNotices.prepare(accountId, { type: 'payment.received', payment }, amountMicros);
  const outcome = await payments.settle(
    { ...payment, paymentIntent: intent.id },
    { customer: intent.customer, card: savedCard(payment, intent), notice },
  );
  if (outcome === 'out_of_range') return held(services, payment, 'no_room');
  if (outcome === 'credited') await paymentNotices.stored(accountId, notice);
  return debit(services, payment, intent);
}

async function held(
  { payments }: FollowServices,
  payment: StripePayment,
  why: HeldReason,
): Promise<Followed> {
  return { kind: 'held', why, isNew: await payments.hold(payment) };
}

function savedCard(
  { savesCard }: StripePayment,
  { card, customer, paymentMethod }: StripePaymentIntent,
): SavedCard | undefined {
  if (savesCard !== true || !card || customer === null || paymentMethod === null) return undefined;
  return { paymentMethod, ...card };
}

/** Why a payment that Stripe took is not what the account was to pay. */
async function whyHeld(
  { livemode }: FollowServices,
  { id, accountId, amountMicros }: StripePayment,
  intent: StripePaymentIntent,
): Promise<HeldReason | undefined> {
  if (intent.livemode !== (await livemode())) return 'other_mode';
  if (intent.metadata['payment'] !== id || intent.metadata['account'] !== accountId) return 'other_payment';
  if (intent.currency !== 'usd') return 'other_currency';
  return intent.amountReceivedCents * microsOfCent < amountMicros ? 'too_little' : undefined;
}

/** Takes from the account what refunds and disputes took, and gives back what came back. */
async function debit(
  { stripe, payments, paymentNotices, suspend }: FollowServices,
  { id, accountId }: StripePayment,
  intent: StripePaymentIntent,
): Promise<Followed> {
  // The record comes first: a change after this moment refuses what follows from an older answer of Stripe.
  const stored = await payments.read(id);
  if (stored?.creditedMicros === undefined) throw new NotSaid('changed');
  const { creditedMicros, disputedMicros = 0 } = stored;
  const back = await backMicros(stripe, creditedMicros, intent.id, intent.amountReceivedCents);
  const { targetMicros: target, disputedMicros: disputed } = back;
  const reason = disputed > disputedMicros ? 'dispute' : disputed < disputedMicros ? 'dispute_won' : 'refund';
  const amountMicros = asMicros(stored.reversedMicros - target);
  if (amountMicros === 0 && disputed === disputedMicros) return { kind: 'succeeded' };
  if (reason === 'dispute') await suspend?.(accountId);
  const news = { type: 'payment.reversed', payment: { id }, reason, amountMicros } as const;
  const notice = amountMicros === 0 ? undefined : await paymentNotices.prepare(accountId, news, amountMicros);
  if (!(await payments.reverse(stored, target, { reason, disputedMicros: disputed, notice })))
    return { kind: 'later', why: 'changed' };
  await paymentNotices.stored(accountId, notice);
  return { kind: 'succeeded' };
}

/** What of a credit went back at Stripe: by refunds and disputes together, and by disputes alone. */
export async function backMicros(
  stripe: Stripe,
  creditedMicros: Micros,
  paymentIntent: string,
  receivedCents: number,
): Promise<{ readonly targetMicros: Micros; readonly disputedMicros: Micros }> {
  const refunds = await everyItem((after) => stripe.listRefunds(paymentIntent, after));
  const disputes = answerOf(await stripe.listDisputes(paymentIntent)).items;
  const refunded = refunds.filter(({ status }) => status !== 'failed' && status !== 'canceled');
  const refundedCents = sumOf(refunded, ({ amountCents }) => amountCents);
  const withdrawnCents = sumOf(disputes, (dispute) => dispute.withdrawnCents);
  // Tax was paid on top and not credited, so a refunded cent takes back its share of the credit.
  const shareOf = (cents: number): Micros =>
    asMicros(Math.min(creditedMicros, Math.round((creditedMicros * cents) / receivedCents)));
  return {
    targetMicros: shareOf(refundedCents + withdrawnCents),
    disputedMicros: shareOf(withdrawnCents),
  };
}

/** Cancels an automatic payment that was declined, so that it can never succeed, and ends it only then. */
async function giveUp(
  services: FollowServices,
  payment: StripePayment,
  intent: StripePaymentIntent,
): Promise<Followed> {
  const { status, failureCode } = answerOf(await services.stripe.cancelPaymentIntent(intent.id));
  if (status !== 'canceled') throw new NotSaid('changed');
  return end(services, payment, intent.failureCode ?? failureCode);
}

/** Ends a payment that Stripe will never take. An automatic one pauses, until a person acts. */
export async function end(
  { payments, paymentNotices }: Pick<FollowServices, 'payments' | 'paymentNotices'>,
  payment: StripePayment,
  failureCode: string | null,
): Promise<Followed> {
  const { id, kind } = payment;
  if (kind === 'checkout') {
    await payments.fail(id, { state: 'failed' });
    return { kind: 'ended' };
  }
  await endPaused({ payments, paymentNotices }, payment, 'failed', pauseOf(failureCode));
  return { kind: 'ended' };
}

type AutoEnd = Exclude<Extract<PaymentNews, { type: 'payment.failed' }>['reason'], 'monthly_cap'>;

/** Ends an automatic payment, pauses the top-up and stores the notice, in one transaction. */
export async function endPaused(
  { payments, paymentNotices }: Pick<FollowServices, 'payments' | 'paymentNotices'>,
  payment: StripePayment,
  state: 'failed' | 'unknown',
  reason: AutoEnd,
): Promise<void> {
  const { id, accountId } = payment;
  const news = { type: 'payment.failed', payment, reason, isPaused: true } as const;
  const notice = await paymentNotices.prepare(accountId, news, asMicros(0));
  if (await payments.fail(id, { state, pause: reason, notice }))
    await paymentNotices.stored(accountId, notice);
}

function pauseOf(code: string | null): AutoEnd {
  if (code === 'authentication_required') return code;
  return code === 'expired_card' ? 'card_expired' : 'declined';
}

function answerOf<Found>(outcome: StripeOutcome<Found>): Found {
  if (outcome.kind === 'ok') return outcome.object;
  throw new NotSaid(outcome.kind === 'refused' ? 'refused' : outcome.why);
}

async function everyItem<Item extends { readonly id: string }>(
  read: (after: string | undefined) => Promise<StripeOutcome<StripePage<Item>>>,
): Promise<readonly Item[]> {
  const all: Item[] = [];
  for (;;) {
    const { items, hasMore } = answerOf(await read(all.at(-1)?.id));
    all.push(...items);
    if (!hasMore || items.length === 0) return all;
  }
}

function sumOf<Item>(items: readonly Item[], part: (item: Item) => number): number {
  return items.reduce((sum, item) => sum + part(item), 0);
}

/**
 * Brings the record of a payment and the wallet to what stands at Stripe. An event, the page after a payment and the
 * listing are hints: each of them leads here, and here Stripe is read. So neither their order nor a repetition nor a
 * loss changes what the account gets.
 */
import { asMicros, type Micros } from '../values/money.ts';
import type { PauseReason } from './auto-top-up.ts';
import type { StripePayment } from './payment.ts';
import type { Stripe, StripeDoubt, StripeOutcome } from './stripe/client.ts';
import type { StripePage, StripePaymentIntent } from './stripe/objects.ts';
import type { StripePaymentStore } from './stripe-payment-store.ts';

export interface FollowServices {
  readonly stripe: Stripe;
  readonly payments: StripePaymentStore;
  /** Whether the key of the service takes real money. */
  readonly livemode: boolean;
}

export type Followed =
  /** 'waiting': nobody has paid yet. 'processing': the money is on its way. 'ended': it failed or expired. */
  | { readonly kind: 'succeeded' | 'waiting' | 'processing' | 'ended' }
  /** Nothing was moved, and a person must look at the payment. */
  | { readonly kind: 'held'; readonly why: HeldReason }
  /** Stripe did not say. The next look asks again. */
  | { readonly kind: 'later'; readonly why: StripeDoubt | 'refused' | 'not_found' | 'changed' };

export type HeldReason =
  | 'other_mode'
  | 'other_payment'
  | 'other_currency'
  | 'too_little'
  | 'balance_too_large';

const microsOfCent = 10_000;

/** Stripe did not say what the work needs to know. */
class NotSaid extends Error {
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
      await services.payments.fail(payment.id, failureOf(payment, intent));
      return { kind: 'ended' };
    default:
      // A person may try another card on the page of Stripe. Nobody tries another one for an automatic payment.
      return payment.kind === 'auto' ? giveUp(services, payment, intent) : { kind: 'waiting' };
  }
}

/** The PaymentIntent of the payment, or how it stands with the page to pay on, where nobody has tried a card. */
async function intentOf(
  { stripe, payments }: FollowServices,
  { id, kind, customer, session, paymentIntent }: StripePayment,
): Promise<StripePaymentIntent | 'waiting' | 'expired'> {
  if (paymentIntent !== undefined) return answerOf(await stripe.getPaymentIntent(paymentIntent));
  if (kind === 'auto') {
    // The answer to its creation was lost. Our own id stands in its metadata.
    const all = await everyItem((after) => stripe.listPaymentIntents(customer ?? '', after));
    const listed = all.find(({ metadata }) => metadata['payment'] === id);
    if (!listed) throw new NotSaid('not_found');
    await payments.note(id, { paymentIntent: listed.id });
    return listed;
  }
  if (session === undefined) throw new NotSaid('not_found');
  const { paymentIntent: intent, status, customer: payer } = answerOf(await stripe.getSession(session));
  if (intent === null) return status === 'expired' ? 'expired' : 'waiting';
  await payments.note(id, { paymentIntent: intent, ...(payer !== null && { customer: payer }) });
  return answerOf(await stripe.getPaymentIntent(intent));
}

async function credit(
  services: FollowServices,
  payment: StripePayment,
  intent: StripePaymentIntent,
): Promise<Followed> {
  const { payments } = services;
  const held = async (why: HeldReason): Promise<Followed> => {
    await payments.hold(payment.id);
    return { kind: 'held', why };
  };
  const why = whyHeld(services, payment, intent);
  if (why !== undefined) return held(why);
  const outcome = await payments.settle({ ...payment, paymentIntent: intent.id });
  if (outcome === 'out_of_range') return held('balance_too_large');
  return debit(services, payment, intent);
}

/** Why a payment that Stripe took is not what the account was to pay. */
function whyHeld(
  { livemode }: FollowServices,
  { id, accountId, amountMicros }: StripePayment,
  intent: StripePaymentIntent,
): HeldReason | undefined {
  if (intent.livemode !== livemode) return 'other_mode';
  if (intent.metadata['payment'] !== id || intent.metadata['account'] !== accountId) return 'other_payment';
  if (intent.currency !== 'usd') return 'other_currency';
  return intent.amountReceivedCents * microsOfCent < amountMicros ? 'too_little' : undefined;
}

/** Takes from the account what refunds and disputes took, and gives back what came back. */
async function debit(
  { stripe, payments }: FollowServices,
  { id }: StripePayment,
  intent: StripePaymentIntent,
): Promise<Followed> {
  // The record comes first: a change after this moment refuses what follows from an older answer of Stripe.
  const stored = await payments.read(id);
  if (stored?.creditedMicros === undefined) throw new NotSaid('changed');
  const refunds = await everyItem((after) => stripe.listRefunds(intent.id, after));
  const disputes = answerOf(await stripe.listDisputes(intent.id)).items;
  const { creditedMicros, disputedMicros = 0 } = stored;
  const refunded = refunds.filter(({ status }) => status !== 'failed' && status !== 'canceled');
  const refundedCents = sumOf(refunded, ({ amountCents }) => amountCents);
  const withdrawnCents = sumOf(disputes, (dispute) => dispute.withdrawnCents);
  // Tax was paid on top and not credited, so each cent that goes back stands for its share of the credit.
  const shareOf = (cents: number): Micros =>
    asMicros(Math.min(creditedMicros, Math.round((creditedMicros * cents) / intent.amountReceivedCents)));
  const disputed = shareOf(withdrawnCents);
  const isDispute = disputed > disputedMicros;
  const isDone = await payments.reverse(stored, shareOf(refundedCents + withdrawnCents), {
    reason: isDispute ? 'dispute' : disputed < disputedMicros ? 'dispute_won' : 'refund',
    disputedMicros: disputed,
    ...(isDispute && { pause: 'dispute' }),
  });
  return isDone ? { kind: 'succeeded' } : { kind: 'later', why: 'changed' };
}

/** Cancels an automatic payment that was declined, so that it can never succeed, and ends it only then. */
async function giveUp(
  { stripe, payments }: FollowServices,
  payment: StripePayment,
  intent: StripePaymentIntent,
): Promise<Followed> {
  const { status } = answerOf(await stripe.cancelPaymentIntent(intent.id));
  if (status !== 'canceled') throw new NotSaid('changed');
  await payments.fail(payment.id, failureOf(payment, intent));
  return { kind: 'ended' };
}

function failureOf(
  { kind }: StripePayment,
  { failureCode }: StripePaymentIntent,
): { readonly state: 'failed'; readonly pause?: PauseReason } {
  return kind === 'auto' ? { state: 'failed', pause: pauseOf(failureCode) } : { state: 'failed' };
}

function pauseOf(code: string | null): PauseReason {
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

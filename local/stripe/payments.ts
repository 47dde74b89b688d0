/** PaymentIntents and Checkout Sessions: their states, and the event of each step. */
import type { StripeAccount } from './account.ts';
import { type Card, type CardName, cards, type Decline } from './cards.ts';
import { tell } from './events.ts';
import {
  type Charge,
  newCharge,
  newCustomer,
  newPaymentIntent,
  newPaymentMethod,
  type PaymentIntent,
  type PaymentMethod,
  type Session,
} from './objects.ts';
import { invalid, StripeRefusal } from './refusals.ts';

/** How long the money of a bank account is on its way. */
const processingSeconds = 300;

function cardBehind({ state }: StripeAccount, intent: PaymentIntent): Card {
  return cards[state.cardOf[intent.payment_method ?? ''] ?? 'pays'];
}

function chargeOf(account: StripeAccount, intent: PaymentIntent): Charge {
  return account.get('charge', intent.latest_charge ?? '', account.isLive(intent.id));
}

/** Charges the payment method of the intent. @returns why it was declined */
function charge(
  account: StripeAccount,
  intent: PaymentIntent,
  outcome: Card['atThePage'],
): Decline | undefined {
  const live = account.isLive(intent.id);
  const receipts = `${account.world.pagesUrl}/receipts`;
  const made = account.keep(
    newCharge(account.birth('ch', live), intent, cardBehind(account, intent), receipts),
    live,
  );
  intent.latest_charge = made.id;
  intent.next_action = null;
  switch (outcome.kind) {
    case 'pays':
      succeed(account, intent);
      return undefined;
    case 'processes':
      intent.status = 'processing';
      tell(account, 'charge.pending', made);
      tell(account, 'payment_intent.processing', intent);
      account.later(processingSeconds, { kind: 'settle', intent: intent.id, as: outcome.ends });
      return undefined;
    case 'declines':
      fail(account, intent, outcome.decline);
      return outcome.decline;
  }
}

function succeed(account: StripeAccount, intent: PaymentIntent): void {
  const paid = chargeOf(account, intent);
  Object.assign(paid, { status: 'succeeded', paid: true, amount_captured: paid.amount });
  intent.status = 'succeeded';
  intent.amount_received = intent.amount;
  tell(account, 'charge.succeeded', paid);
  tell(account, 'payment_intent.succeeded', intent);
}

function fail(account: StripeAccount, intent: PaymentIntent, decline: Decline): void {
  const failed = chargeOf(account, intent);
  Object.assign(failed, { status: 'failed', failure_code: decline.code, failure_message: decline.message });
  const method = account.find('payment_method', intent.payment_method ?? '');
  intent.last_payment_error = { ...cardErrorOf(decline, failed.id), payment_method: method };
  intent.status = 'requires_payment_method';
  intent.payment_method = null;
  tell(account, 'charge.failed', failed);
  tell(account, 'payment_intent.payment_failed', intent);
}

function cardErrorOf(decline: Decline, chargeId: string) {
  return {
    type: 'card_error' as const,
    ...decline,
    charge: chargeId,
    doc_url: `https://stripe.com/docs/error-codes`,
  };
}

/** The bank's words when money that was on its way does not come. */
const bankRefused: Decline = {
  code: 'card_declined',
  decline_code: 'generic_decline',
  message: 'The bank account could not be charged.',
};

/** Ends the way of the money. Throws when no money is on its way. */
export function settle(account: StripeAccount, intent: PaymentIntent, as: 'succeeded' | 'failed'): void {
  if (intent.status !== 'processing')
    throw invalid(`The PaymentIntent ${intent.id} is ${intent.status} and not processing.`);
  if (as === 'succeeded') succeed(account, intent);
  else fail(account, intent, bankRefused);
  const session = sessionOf(account, intent);
  if (!session) return;
  if (as === 'succeeded') session.payment_status = 'paid';
  tell(account, `checkout.session.async_payment_${as}`, session);
}

function sessionOf(account: StripeAccount, { id }: PaymentIntent): Session | undefined {
  return account.list('checkout.session', account.isLive(id)).find((one) => one.payment_intent === id);
}

/** Confirms an intent by the API. Throws the error of a decline, as Stripe answers with 402. */
export function confirm(
  account: StripeAccount,
  intent: PaymentIntent,
  { offSession, errorOnAction }: { readonly offSession: boolean; readonly errorOnAction: boolean },
): void {
  const { offSession: outcome } = cardBehind(account, intent);
  const asksOwner = outcome.kind === 'declines' && outcome.decline.code === 'authentication_required';
  if (asksOwner && !offSession && !errorOnAction) {
    intent.status = 'requires_action';
    intent.next_action = { type: 'use_stripe_sdk', use_stripe_sdk: {} };
    tell(account, 'payment_intent.requires_action', intent);
    return;
  }
  const method = account.find('payment_method', intent.payment_method ?? '');
  const decline = charge(account, intent, outcome);
  if (!decline) return;
  throw new StripeRefusal(402, {
    ...cardErrorOf(decline, intent.latest_charge ?? ''),
    payment_intent: structuredClone(intent),
    payment_method: method,
  });
}

const cancellable: readonly PaymentIntent['status'][] = [
  'requires_payment_method',
  'requires_confirmation',
  'requires_action',
];

export function cancel(account: StripeAccount, intent: PaymentIntent, reason: string | null): void {
  if (!cancellable.includes(intent.status))
    throw new StripeRefusal(400, {
      type: 'invalid_request_error',
      code: 'payment_intent_unexpected_state',
      message:
        `You cannot cancel this PaymentIntent because it has a status of ${intent.status}. ` +
        `Only a PaymentIntent with one of the following statuses may be canceled: ${cancellable.join(', ')}.`,
      payment_intent: structuredClone(intent),
    });
  if (sessionOf(account, intent)?.status === 'open' && reason !== 'automatic')
    throw invalid(
      'You cannot cancel PaymentIntents created by Checkout. Expire the Checkout Session instead.',
    );
  Object.assign(intent, {
    status: 'canceled',
    canceled_at: account.seconds(),
    cancellation_reason: reason,
    next_action: null,
  });
  tell(account, 'payment_intent.canceled', intent);
}

export function expire(account: StripeAccount, session: Session): void {
  if (session.status !== 'open')
    throw invalid(
      `Only Checkout Sessions with a status in ["open"] can be expired. This Checkout Session has a status of ${session.status}.`,
    );
  const intent = account.find('payment_intent', session.payment_intent ?? '');
  session.status = 'expired';
  session.url = null;
  if (intent && cancellable.includes(intent.status)) cancel(account, intent, 'automatic');
  tell(account, 'checkout.session.expired', session);
}

/** Who pays on the page gives this address. */
const payer = { email: 'payer@example.com', name: 'Pat Payer' };

/** Pays on the page. @returns why the card was declined: the session stays open for another card */
export function pay(account: StripeAccount, session: Session, name: CardName): Decline | undefined {
  if (session.status !== 'open') throw invalid(`The Checkout Session is ${session.status}.`);
  const live = account.isLive(session.id);
  const outcome = cards[name].atThePage;
  if (session.customer === null && session.customer_creation === 'always' && outcome.kind !== 'declines') {
    const customer = account.keep(newCustomer(account.birth('cus', live), payer), live);
    session.customer = customer.id;
    tell(account, 'customer.created', customer);
  }
  const intent = intentOf(account, session);
  intent.customer = session.customer;
  intent.payment_method = methodFor(account, intent, name, outcome.kind !== 'declines').id;
  const decline = charge(account, intent, outcome);
  if (decline) return decline;
  Object.assign(session, {
    status: 'complete',
    payment_status: intent.status === 'succeeded' ? 'paid' : 'unpaid',
    customer_details: { ...payer, address: null, phone: null, tax_exempt: 'none', tax_ids: [] },
    url: null,
  });
  tell(account, 'checkout.session.completed', session);
  return undefined;
}

/** The PaymentIntent of a session is made when its first card is tried. */
function intentOf(account: StripeAccount, session: Session): PaymentIntent {
  const known = account.find('payment_intent', session.payment_intent ?? '');
  if (known) return known;
  const live = account.isLive(session.id);
  const { amount_total: amount, currency } = session;
  const given = { amount, currency, ...account.state.intentDataOf[session.id] };
  const intent = account.keep(newPaymentIntent(account.birth('pi', live), given), live);
  session.payment_intent = intent.id;
  tell(account, 'payment_intent.created', intent);
  return intent;
}

/** A card is saved for later when the session asked for it and has a customer. */
function methodFor(
  account: StripeAccount,
  { customer, setup_future_usage, id }: PaymentIntent,
  name: CardName,
  isTaken: boolean,
): PaymentMethod {
  const live = account.isLive(id);
  const isSaved = isTaken && setup_future_usage === 'off_session';
  const made = newPaymentMethod(account.birth('pm', live), cards[name], isSaved ? customer : null);
  const method = account.keep(made, live);
  account.state.cardOf[method.id] = name;
  if (method.customer !== null) tell(account, 'payment_method.attached', method);
  return method;
}

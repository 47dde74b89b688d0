/** POST /_local/payments: what happens at Stripe without a call of ours. */
import * as z from 'zod';
import { faultKinds, type StripeAccount } from './account.ts';
import { type CardName, cards } from './cards.ts';
import { release, repeat } from './events.ts';
import type { Charge, PaymentIntent } from './objects.ts';
import { pay, settle } from './payments.ts';
import { invalid } from './refusals.ts';
import { dispute, disputeSteps, endRefund, refund } from './reversals.ts';

const id = z.string().min(1);
const cents = z.int().min(1);
const times = z.int().min(1).nullable();

export const paymentActionSchema = z.discriminatedUnion('action', [
  /** Pays a session as on its page. */
  z.strictObject({ action: z.literal('pay'), session: id, card: z.enum(Object.keys(cards) as [CardName]) }),
  /** Ends the way of money that is processing. */
  z.strictObject({ action: z.literal('settle'), payment_intent: id, as: z.enum(['succeeded', 'failed']) }),
  /** Refunds in the dashboard. Without `as`, the refund goes as the card has it. */
  z.strictObject({
    action: z.literal('refund'),
    payment_intent: id,
    amount: cents.optional(),
    as: z.enum(['pending', 'succeeded', 'failed']).optional(),
  }),
  z.strictObject({
    action: z.literal('end_refund'),
    refund: id,
    as: z.enum(['succeeded', 'failed', 'canceled']),
  }),
  /** Begins the dispute of a payment, or moves it on. */
  z.strictObject({
    action: z.literal('dispute'),
    payment_intent: id,
    as: z.enum(disputeSteps),
    amount: cents.optional(),
  }),
  /** Says where events go. Each secret signs. */
  z.strictObject({
    action: z.literal('webhook'),
    url: z.url(),
    secrets: z.array(z.string().startsWith('whsec_')).min(1).max(4),
    live: z.boolean().default(false),
  }),
  /** Spoils the next events whose type begins so. `times` null: all. */
  z.strictObject({
    action: z.literal('events'),
    how: z.enum(['drop', 'double', 'hold', 'reverse', 'alter', 'unsigned', 'stale', 'v0']),
    type: z.string().default(''),
    times: times.default(1),
  }),
  /** Sends the events that were held; the next ones go as always. */
  z.strictObject({ action: z.literal('release') }),
  z.strictObject({ action: z.literal('repeat'), event: id }),
  /** Spoils the next calls. */
  z.strictObject({
    action: z.literal('fault'),
    fault: z.enum(faultKinds),
    call: z.string().default(''),
    match: z.string().default(''),
    seconds: z.number().min(0).default(60),
    times: times.default(1),
  }),
  /** Ends all faults, and all that spoils events. */
  z.strictObject({ action: z.literal('clear') }),
]);

export type PaymentAction = z.output<typeof paymentActionSchema>;

/** Does it, and gives what changed. Throws StripeRefusal when the state of the payment does not allow it. */
export function act(account: StripeAccount, action: PaymentAction): unknown {
  const { state } = account;
  switch (action.action) {
    case 'pay': {
      const session = known(account.find('checkout.session', action.session), 'session', action.session);
      const decline = pay(account, session, action.card);
      return { session, declined: decline ?? null };
    }
    case 'settle': {
      const intent = intentOf(account, action.payment_intent);
      settle(account, intent, action.as);
      return intent;
    }
    case 'refund':
      return refund(account, chargeOf(account, action.payment_intent), action);
    case 'end_refund': {
      const one = known(account.find('refund', action.refund), 'refund', action.refund);
      endRefund(account, one, action.as);
      return one;
    }
    case 'dispute':
      return dispute(account, chargeOf(account, action.payment_intent), action.as, action.amount);
    case 'webhook': {
      const { url, secrets } = action;
      state.endpoints[action.live ? 'live' : 'test'] = { url, secrets };
      return { url };
    }
    case 'events': {
      const { how, type, times: left } = action;
      state.interferences.push({ how, type, left });
      return { events: state.interferences };
    }
    case 'release':
      state.interferences = state.interferences.filter(({ how }) => how !== 'hold' && how !== 'reverse');
      return { released: release(account) };
    case 'repeat': {
      const event = known(
        state.events.find((one) => one.id === action.event),
        'event',
        action.event,
      );
      repeat(account, event);
      return { repeated: event.id };
    }
    case 'fault': {
      const { fault, call, match, seconds, times: left } = action;
      state.faults.push({ fault, call, match, seconds, left });
      return { faults: state.faults };
    }
    case 'clear':
      state.faults = [];
      state.interferences = [];
      return { faults: [], events: [] };
  }
}

function known<Value>(value: Value | undefined, what: string, one: string): Value {
  if (value === undefined) throw invalid(`There is no ${what} ${one}.`);
  return value;
}

function intentOf(account: StripeAccount, one: string): PaymentIntent {
  return known(account.find('payment_intent', one), 'PaymentIntent', one);
}

function chargeOf(account: StripeAccount, one: string): Charge {
  const { latest_charge: charge } = intentOf(account, one);
  return known(account.find('charge', charge ?? ''), 'charge of the PaymentIntent', one);
}

/** The answer of GET /_local/payments: what stands at Stripe, the newest first. */
export function overview({ state }: StripeAccount): unknown {
  const { events, held, interferences, faults, endpoints, due } = state;
  const of = (kind: string): unknown[] =>
    Object.values(state.objects)
      .flatMap(({ object }) => (object.object === kind ? [object] : []))
      .toReversed();
  return {
    sessions: of('checkout.session'),
    payment_intents: of('payment_intent'),
    refunds: of('refund'),
    disputes: of('dispute'),
    events: events.toReversed().map((event) => ({ id: event.id, type: event.type, created: event.created })),
    held: held.map(({ event }) => event.id),
    due: due.map(({ at, work }) => ({ at: new Date(at).toISOString(), what: work.kind })),
    spoilt: interferences,
    faults,
    webhooks: Object.fromEntries(Object.entries(endpoints).map(([mode, { url }]) => [mode, url])),
  };
}

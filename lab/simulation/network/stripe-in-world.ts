/**
 * Stripe in a world: the fake of local/stripe on the world's clock and behind the world's one door of calls. What goes
 * wrong with a call is drawn at the door; what goes wrong with an event is in stripe-webhooks.ts.
 */
import { AwsError } from '../../../local/aws/aws-error.ts';
import { emptyState, type Fault, type StripeRequest } from '../../../local/stripe/account.ts';
import { type CardName, cards } from '../../../local/stripe/cards.ts';
import {
  newCustomer,
  newPaymentMethod,
  type PaymentIntent,
  type Session,
} from '../../../local/stripe/objects.ts';
import { pay } from '../../../local/stripe/payments.ts';
import { StripeRefusal } from '../../../local/stripe/refusals.ts';
import { createFakeStripe } from '../../../local/stripe/stripe.ts';
import type { Send } from '../../../service/vendors/vendor-http.ts';
import { createStream } from '../world/dice.ts';
import type { FaultKind } from '../world/faults.ts';
import type { Invocation, World } from '../world/simulated-world.ts';
import { createWebhookSender, type SentEvent, type WebhookHabits } from './stripe-webhooks.ts';

/** The key of the service at Stripe. No text of it may appear in logs and answers. */
export const stripeKey = 'rk_test_ofTheSimulationNobodyMayLog';
export const stripePages = 'https://stripe.test';

export interface StripeObserver {
  /** A request arrives at Stripe. */
  readonly onAsked: (asked: AskedOfStripe) => void;
  /** Something has changed at Stripe. */
  readonly onChanged: () => void;
}

export interface AskedOfStripe {
  readonly invocation: Invocation | undefined;
  readonly method: string;
  readonly path: string;
  readonly idempotencyKey: string | undefined;
  readonly parameters: URLSearchParams;
}

/** The fault of the fake that stands for a fault of the door. The others strike on the way. */
const faultOf: Readonly<Partial<Record<FaultKind, Fault['fault']>>> = {
  error: 'error',
  errors: 'error',
  throttle: 'rate_limit',
  throttles: 'rate_limit',
  conflict: 'conflict',
  conflicts: 'conflict',
  stored_error: 'stored_error',
  stored_error_after_effect: 'stored_error_after_effect',
  late_effect: 'late_effect',
  key_refused: 'revoked',
  lag: 'lag',
  broken_page: 'broken_page',
};
const lagSeconds = 60;
const lateEffectSeconds = 300;

/** @param receive hands an event to the service, and gives the status of its answer, or 0 when none came */
export function createStripeInWorld(
  world: World,
  observer: StripeObserver,
  receive: (sent: SentEvent) => Promise<number>,
  habits: WebhookHabits,
) {
  const state = emptyState();
  const webhooks = createWebhookSender(world, receive, habits);
  const stripe = createFakeStripe(state, {
    now: world.time.now,
    random: createStream(world.dice.between('stripe', 0, 0x7fffffff)),
    pagesUrl: stripePages,
    send: (_url, _headers, body) => {
      webhooks.send(body);
      return Promise.resolve(200);
    },
  });
  const { account } = stripe;
  state.endpoints.test = { url: 'https://api.test/', secrets: ['whsec_unused'] };
  let refusedUntil = 0;
  let changedAt = 0;
  let events = 0;
  let stop: (() => void) | undefined;

  /** After each change: what falls due at Stripe happens, independent of its cause. */
  function changed(): void {
    if (state.events.length !== events) changedAt = world.time.now();
    events = state.events.length;
    observer.onChanged();
    stop?.();
    const next = stripe.nextAt();
    stop =
      next === undefined
        ? undefined
        : world.time.after(Math.max(0, next - world.time.now()), () => {
            world.outside(() => void stripe.runDue().then(changed));
          });
  }

  function answer(request: StripeRequest, fault: FaultKind | undefined) {
    const kind = world.time.now() < refusedUntil ? 'revoked' : fault && faultOf[fault];
    if (kind) {
      const seconds = kind === 'lag' ? lagSeconds : lateEffectSeconds;
      state.faults = [{ fault: kind, call: '', match: '', seconds, left: 1 }];
    }
    const reply = stripe.call(request);
    state.faults = [];
    changed();
    if (reply.kind !== 'answer') throw new AwsError('ConnectionLost', 'the connection broke');
    return reply;
  }

  /** Does what happens at Stripe without a call. Undefined: its state does not allow that. */
  function act<Value>(work: () => Value): Value | undefined {
    try {
      return work();
    } catch (error) {
      if (!(error instanceof StripeRefusal)) throw error;
      return undefined;
    } finally {
      changed();
    }
  }

  const send: Send = async (url, { method, headers, body, signal }) => {
    const { pathname: path, search } = new URL(url);
    const query = search.slice(1);
    const operation = `${method} ${path.replace(/\/[a-z]+_(test_)?\w{10,}/, '/*')}`;
    const text = typeof body === 'string' ? body : '';
    const invocation = world.current();
    const { status, ...reply } = await world.call(
      { service: 'stripe', operation, target: '', signal },
      (fault) => {
        observer.onAsked({
          invocation,
          method,
          path,
          idempotencyKey: headers['idempotency-key'],
          parameters: new URLSearchParams(text === '' ? query : text),
        });
        return answer({ method, path, query, headers, body: text }, fault);
      },
    );
    return { status, headers: new Headers(reply.headers), bytes: Buffer.from(reply.body) };
  };

  return {
    account,
    webhooks,
    send,
    act,
    /** For so long every call is refused, because the key is no longer valid at Stripe. */
    refuseKey: (millis: number): void => void (refusedUntil = world.time.now() + millis),
    /** When something happened at Stripe for the last time, and until when it refused the key. */
    lastChangeAt: (): number => Math.max(changedAt, refusedUntil),
    /** When something falls due at Stripe. Undefined: nothing will. */
    nextAt: stripe.nextAt,
    /** Pays a page. Gives the PaymentIntent. Undefined: the page is closed. */
    pay: (session: string, card: CardName): PaymentIntent | undefined =>
      act(() => {
        const page = account.find('checkout.session', session);
        if (!page) return undefined;
        pay(account, page, card);
        return account.find('payment_intent', page.payment_intent ?? '');
      }),
    /** A customer with a card that was saved before the run began. */
    savedCard: (name: CardName): { readonly customer: string; readonly paymentMethod: string } => {
      const customer = account.keep(newCustomer(account.birth('cus', false), {}), false);
      const method = newPaymentMethod(account.birth('pm', false), cards[name], customer.id);
      account.keep(method, false);
      state.cardOf[method.id] = name;
      return { customer: customer.id, paymentMethod: method.id };
    },
    sessions: (): Session[] => account.list('checkout.session', false),
    /** The oldest first. */
    intents: (): PaymentIntent[] => account.list('payment_intent', false).toReversed(),
  };
}

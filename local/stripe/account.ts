/** The account at Stripe: everything that the fake remembers, as one JSON value that a file or a simulation keeps. */
import type { CardName } from './cards.ts';
import type { Birth, Kinds, StripeEvent, StripeObject } from './objects.ts';
import { missing } from './refusals.ts';

/** What the fake takes from outside. */
export interface StripeWorld {
  /** Unix milliseconds. */
  readonly now: () => number;
  /** A number from 0 up to, but not including, 1. Ids come from it. */
  readonly random: () => number;
  /** Below this address are the pages of the fake: `${pagesUrl}/pay/SESSION`. */
  readonly pagesUrl: string;
  /** Sends a webhook and gives the status of its answer, or 0 when none came. */
  readonly send: (url: string, headers: Readonly<Record<string, string>>, body: string) => Promise<number>;
}

/** A request as it came in. Names of headers are in lower case. */
export interface StripeRequest {
  readonly method: string;
  /** Such as /v1/payment_intents, without the query. */
  readonly path: string;
  readonly query: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: string;
}

/** How a delivery of an event is spoilt. */
export type Spoiling = 'alter' | 'unsigned' | 'stale' | 'v0';

export type Work =
  | { readonly kind: 'expire'; readonly session: string }
  | { readonly kind: 'settle'; readonly intent: string; readonly as: 'succeeded' | 'failed' }
  | { readonly kind: 'end_refund'; readonly refund: string; readonly as: 'succeeded' | 'failed' }
  | {
      readonly kind: 'deliver';
      readonly event: StripeEvent;
      /** How often the event was sent before. */
      readonly tries: number;
      readonly spoiling?: Spoiling;
    }
  /** A request whose effect comes late (a fault). */
  | { readonly kind: 'take_effect'; readonly request: StripeRequest };

export interface Interference {
  readonly how: 'drop' | 'double' | 'hold' | 'reverse' | Spoiling;
  /** Events whose type begins so. */
  readonly type: string;
  /** How many more events. Null: all, until it is cleared. */
  left: number | null;
}

export const faultKinds = [
  /** 500, without an effect and not stored. */
  'error',
  /** 500 without an effect, stored under the Idempotency-Key. */
  'stored_error',
  /** The call takes effect, and 500 is stored under the Idempotency-Key. */
  'stored_error_after_effect',
  /** The call takes effect, and the connection ends without an answer. */
  'lost_answer',
  /** The connection ends without an answer, and the call takes effect after `seconds`. */
  'late_effect',
  /** No answer ever comes. The call takes no effect. */
  'hang',
  /** 409: another request with this Idempotency-Key is in flight. */
  'conflict',
  /** 429. */
  'rate_limit',
  /** 401: the key has expired. */
  'revoked',
  /** 403: the key may not do this. */
  'forbidden',
  /** Lists do not show what is younger than `seconds`. */
  'lag',
  /** 500 for every page of a list but the first. */
  'broken_page',
] as const;

export interface Fault {
  readonly fault: (typeof faultKinds)[number];
  /** A part of a call such as "POST /v1/payment_intents". */
  readonly call: string;
  /** A part of the parameters as they are sent. */
  readonly match: string;
  readonly seconds: number;
  /** How many more calls. Null: all, until it is cleared. */
  left: number | null;
}

interface Endpoint {
  readonly url: string;
  /** While a secret is rolled, there are two, and each signs. */
  readonly secrets: readonly string[];
}

/** The call that is being answered. Its events name it. */
interface Cause {
  readonly id: string;
  readonly idempotency_key: string | null;
}

/** What a session hands on to its PaymentIntent, and does not show itself. */
interface IntentData {
  readonly description?: string | undefined;
  readonly metadata?: Record<string, string> | undefined;
  readonly setup_future_usage?: string | undefined;
}

interface StoredAnswer {
  /** Method, path and parameters. */
  readonly request: string;
  readonly at: number;
  /** Absent while the request is in flight. */
  readonly answer?: { readonly status: number; readonly body: unknown; readonly requestId: string };
}

export interface StripeState {
  /** By id, the oldest first. */
  readonly objects: Record<string, { readonly live: boolean; readonly object: StripeObject }>;
  /** Which way to pay is behind a payment method. */
  readonly cardOf: Record<string, CardName>;
  readonly intentDataOf: Record<string, IntentData>;
  answers: Record<string, StoredAnswer>;
  /** The oldest first. */
  events: StripeEvent[];
  due: { readonly at: number; readonly work: Work }[];
  held: Extract<Work, { readonly kind: 'deliver' }>[];
  interferences: Interference[];
  faults: Fault[];
  readonly endpoints: { test?: Endpoint; live?: Endpoint };
}

export function emptyState(): StripeState {
  return {
    objects: {},
    cardOf: {},
    intentDataOf: {},
    answers: {},
    events: [],
    due: [],
    held: [],
    interferences: [],
    faults: [],
    endpoints: {},
  };
}

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

export type StripeAccount = ReturnType<typeof openAccount>;

export function openAccount(state: StripeState, world: StripeWorld) {
  const seconds = (): number => Math.floor(world.now() / 1_000);
  const newId = (prefix: string, length = 24): string => {
    const letters = Array.from({ length }, () => alphabet[Math.floor(world.random() * alphabet.length)]);
    return `${prefix}_${letters.join('')}`;
  };
  const of = <Kind extends keyof Kinds>(
    kind: Kind,
    id: string,
  ): { live: boolean; object: Kinds[Kind] } | undefined => {
    const found = Object.hasOwn(state.objects, id) ? state.objects[id] : undefined;
    return found?.object.object === kind ? (found as { live: boolean; object: Kinds[Kind] }) : undefined;
  };
  return {
    state,
    world,
    /** Undefined while no request is answered. */
    cause: undefined as Cause | undefined,
    seconds,
    newId,
    birth: (prefix: string, livemode: boolean): Birth => ({
      id: newId(prefix),
      created: seconds(),
      livemode,
    }),
    keep: <One extends StripeObject>(object: One, live: boolean): One => {
      state.objects[object.id] = { live, object };
      return object;
    },
    isLive: (id: string): boolean => state.objects[id]?.live === true,
    find: <Kind extends keyof Kinds>(kind: Kind, id: string): Kinds[Kind] | undefined => of(kind, id)?.object,
    /** Throws the refusal of an id that is unknown in this mode. @param param `id` for one in the path */
    get: <Kind extends keyof Kinds>(kind: Kind, id: string, live: boolean, param = 'id'): Kinds[Kind] => {
      const found = of(kind, id);
      if (found?.live !== live)
        throw missing(kind.replace('checkout.session', 'checkout session'), id, param);
      return found.object;
    },
    /** The newest first. */
    list: <Kind extends keyof Kinds>(kind: Kind, live: boolean): Kinds[Kind][] =>
      Object.values(state.objects)
        .flatMap(({ object, live: own }) =>
          object.object === kind && own === live ? [object as Kinds[Kind]] : [],
        )
        .toReversed(),
    later: (afterSeconds: number, work: Work): void => {
      state.due.push({ at: world.now() + afterSeconds * 1_000, work });
    },
  };
}

/** Money that comes into an account: through a payment system of the operator, or through Stripe. */
import { type AccountId, parseAccountId, timeOfUuidV7, uuidV7 } from '../values/ids.ts';
import type { Micros } from '../values/money.ts';

/** `pay_`, the account and a UUIDv7: the id alone finds the item. */
export type PaymentId = `pay_${string}`;

/** A payment that a payment system of the operator took. */
export interface Payment {
  readonly id: PaymentId;
  readonly accountId: AccountId;
  readonly reference: string;
  readonly creditedMicros: Micros;
  readonly reversedMicros: Micros;
  /** The payment system, such as "adyen". */
  readonly source?: string;
  readonly note?: string;
  /** RFC 3339. */
  readonly at: string;
  /** The id of the operator key. */
  readonly by: string;
}

/**
 * The state of a payment of Stripe, as far as the service knows it. Only `succeeded` and `held` need no
 * further check: Stripe may take a payment that was `failed`, `expired` or `unknown`, and then the account is
 * credited.
 */
export type PaymentState = 'open' | 'succeeded' | 'failed' | 'expired' | 'unknown' | 'held';

/** A payment through Stripe. Stripe has the true state; the record is what the service last read. */
export interface StripePayment {
  readonly id: PaymentId;
  readonly accountId: AccountId;
  readonly kind: 'checkout' | 'auto';
  readonly state: PaymentState;
  /** The amount to credit. Tax comes on top and is never credited. */
  readonly amountMicros: Micros;
  /** Absent until the account is credited. */
  readonly creditedMicros?: Micros;
  /** What went back by refunds and disputes. */
  readonly reversedMicros: Micros;
  /** The part that disputes took back. Absent: nothing. */
  readonly disputedMicros?: Micros;
  /** Counts the changes. Each change names the version that it read. */
  readonly version: number;
  /** The UTC month of the begin, such as "2026_11", in which an automatic payment counts. */
  readonly month: string;
  /** False for a payment in the test mode of Stripe. */
  readonly livemode: boolean;
  /** Ids of Stripe, as soon as an answer has named them. */
  readonly session?: string;
  readonly paymentIntent?: string;
  readonly customer?: string;
  /** The person has the card saved for the automatic top-up. */
  readonly savesCard?: true;
  /** The card of an automatic payment. A repetition of the call must name the same one. */
  readonly paymentMethod?: string;
  /** RFC 3339. */
  readonly at: string;
}

const minute = 60_000;
const day = 24 * 60 * minute;
/** Times after the begin of a payment without news. */
const checksAfter = [minute, 5 * minute, 60 * minute, 6 * 60 * minute];
const lastCheckAfter = 30 * day;
/** While it is unknown whether Stripe made an automatic payment, the account gets no other one. */
const doubtMillis = 10 * minute;

/**
 * When the worker checks the payment again. Undefined: never. From then on only Stripe's events report it.
 */
export function nextCheck(
  { kind, paymentIntent, at }: Pick<StripePayment, 'kind' | 'paymentIntent' | 'at'>,
  nowMillis: number,
): number | undefined {
  const began = Date.parse(at);
  const age = nowMillis - began;
  if (age >= lastCheckAfter) return undefined;
  const planned = began + (checksAfter.find((one) => one > age) ?? (Math.floor(age / day) + 1) * day);
  const isInDoubt = kind === 'auto' && paymentIntent === undefined && age < day;
  return isInDoubt ? Math.min(planned, nowMillis + doubtMillis) : planned;
}

export type AnyPayment = Payment | StripePayment;

export function isOfStripe(payment: AnyPayment): payment is StripePayment {
  return 'state' in payment;
}

export function newPaymentId(account: AccountId, nowMillis: number, randomBytes: Uint8Array): PaymentId {
  return `pay_${account}_${uuidV7(nowMillis, randomBytes)}`;
}

/** The account and the UUID of an id. Undefined when the text is no id of a payment. */
export function partsOf(text: string): { readonly account: AccountId; readonly uuid: string } | undefined {
  const [prefix, account = '', uuid = '', ...more] = text.split('_');
  const accountId = parseAccountId(account);
  const isPayment = prefix === 'pay' && more.length === 0 && timeOfUuidV7(uuid) !== undefined;
  return isPayment && accountId ? { account: accountId, uuid } : undefined;
}

/** The id of a payment of this account. Undefined when the text is another one. */
export function parsePaymentId(text: string, account: AccountId): PaymentId | undefined {
  return partsOf(text)?.account === account ? (text as PaymentId) : undefined;
}

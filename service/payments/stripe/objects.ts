/**
 * What the product reads of Stripe's objects, in the version of client.ts. Everything else in an answer is ignored. A
 * field that is absent or of another type makes the whole answer unreadable. Times are Unix seconds.
 */
import { fieldsOf, listOf } from '../../vendors/vendor-http.ts';

export interface StripeSession {
  readonly id: string;
  readonly livemode: boolean;
  readonly status: string;
  /** "unpaid" of a complete session: the money is on its way. */
  readonly paymentStatus: string;
  /** Null until the first card is tried. */
  readonly paymentIntent: string | null;
  /** Who pays, for a later charge of the saved card. */
  readonly customer: string | null;
  /** The page to pay on. Null once the session is no longer open. */
  readonly url: string | null;
  readonly metadata: StripeMetadata;
}

export interface StripePaymentIntent {
  readonly id: string;
  readonly created: number;
  readonly livemode: boolean;
  readonly status: string;
  readonly currency: string;
  readonly amountCents: number;
  readonly amountReceivedCents: number;
  readonly customer: string | null;
  readonly paymentMethod: string | null;
  readonly metadata: StripeMetadata;
  /** Only when the call asks for it, and the method is a card. */
  readonly card: StripeCard | null;
  /** Only when the call asks for it: where Stripe shows the receipt now. */
  readonly receiptUrl: string | null;
  /** Why the last card was declined, as Stripe's code. */
  readonly failureCode: string | null;
}

export interface StripeCard {
  readonly brand: string;
  readonly last4: string;
  readonly expiryMonth: number;
  readonly expiryYear: number;
}

export interface StripeRefund {
  readonly id: string;
  readonly status: string;
  readonly amountCents: number;
}

export interface StripeDispute {
  readonly id: string;
  readonly status: string;
  /** What Stripe took from the operator's balance, less what it gave back, without fees. 0 of an inquiry. */
  readonly withdrawnCents: number;
}

export interface StripeCharge {
  readonly id: string;
  readonly created: number;
  readonly livemode: boolean;
  readonly status: string;
  readonly currency: string;
  readonly amountCents: number;
  readonly amountRefundedCents: number;
  readonly isDisputed: boolean;
  readonly paymentIntent: string | null;
  /** That of its PaymentIntent. */
  readonly metadata: StripeMetadata;
}

/** Of an event only ids count: its object has the form of the version in which it was made. */
export interface StripeEvent {
  readonly id: string;
  readonly type: string;
  readonly created: number;
  readonly livemode: boolean;
  readonly objectId: string;
  /** The PaymentIntent of the object. The object can be this PaymentIntent itself. */
  readonly paymentIntent: string | null;
}

/** The texts that we gave Stripe. Those of others are there as well. */
export type StripeMetadata = Readonly<Record<string, string>>;

/** The newest first. */
export interface StripePage<Item> {
  readonly items: readonly Item[];
  readonly hasMore: boolean;
}

/** An answer that does not have the fields of the version. */
export class Unreadable extends Error {
  override readonly name = 'Unreadable';
}

export function readSession(value: unknown): StripeSession {
  const session = fieldsOf(value);
  return {
    id: text(session['id']),
    livemode: flag(session['livemode']),
    status: text(session['status']),
    paymentStatus: text(session['payment_status']),
    paymentIntent: idOrNull(session['payment_intent']),
    customer: idOrNull(session['customer']),
    url: textOrNull(session['url']),
    metadata: metadataOf(session['metadata']),
  };
}

export function readPaymentIntent(value: unknown): StripePaymentIntent {
  const intent = fieldsOf(value);
  const failure = fieldsOf(intent['last_payment_error']);
  const charge = fieldsOf(intent['latest_charge']);
  return {
    id: text(intent['id']),
    created: integer(intent['created']),
    livemode: flag(intent['livemode']),
    status: text(intent['status']),
    currency: text(intent['currency']),
    amountCents: integer(intent['amount']),
    amountReceivedCents: integer(intent['amount_received']),
    customer: idOrNull(intent['customer']),
    paymentMethod: idOrNull(intent['payment_method']),
    // They can be deleted from the PaymentIntent. Its charge has a copy from the moment of the payment.
    metadata: { ...metadataOf(charge['metadata']), ...metadataOf(intent['metadata']) },
    card: cardOf(fieldsOf(intent['payment_method'])['card']),
    receiptUrl: textOrNull(charge['receipt_url']),
    failureCode: textOrNull(failure['decline_code'] ?? failure['code']),
  };
}

export function readRefund(value: unknown): StripeRefund {
  const refund = fieldsOf(value);
  return { id: text(refund['id']), status: text(refund['status']), amountCents: integer(refund['amount']) };
}

export function readDispute(value: unknown): StripeDispute {
  const dispute = fieldsOf(value);
  const moved = listOf(dispute['balance_transactions']).map((one) => integer(fieldsOf(one)['amount']));
  return {
    id: text(dispute['id']),
    status: text(dispute['status']),
    withdrawnCents: 0 - moved.reduce((sum, cents) => sum + cents, 0),
  };
}

export function readCharge(value: unknown): StripeCharge {
  const charge = fieldsOf(value);
  return {
    id: text(charge['id']),
    created: integer(charge['created']),
    livemode: flag(charge['livemode']),
    status: text(charge['status']),
    currency: text(charge['currency']),
    amountCents: integer(charge['amount']),
    amountRefundedCents: integer(charge['amount_refunded']),
    isDisputed: flag(charge['disputed']),
    paymentIntent: idOrNull(charge['payment_intent']),
    metadata: metadataOf(charge['metadata']),
  };
}

export function readEvent(value: unknown): StripeEvent {
  const event = fieldsOf(value);
  const object = fieldsOf(fieldsOf(event['data'])['object']);
  const id = text(object['id']);
  return {
    id: text(event['id']),
    type: text(event['type']),
    created: integer(event['created']),
    livemode: flag(event['livemode']),
    objectId: id,
    paymentIntent: object['object'] === 'payment_intent' ? id : idOrNull(object['payment_intent']),
  };
}

export function readPage<Item>(readItem: (value: unknown) => Item): (value: unknown) => StripePage<Item> {
  return (value) => {
    const { data, has_more: hasMore } = fieldsOf(value);
    if (!Array.isArray(data)) throw new Unreadable('a list has no data');
    return { items: data.map(readItem), hasMore: flag(hasMore) };
  };
}

function cardOf(value: unknown): StripeCard | null {
  if (value === undefined || value === null) return null;
  const card = fieldsOf(value);
  return {
    brand: text(card['brand']),
    last4: text(card['last4']),
    expiryMonth: integer(card['exp_month']),
    expiryYear: integer(card['exp_year']),
  };
}

function text(value: unknown): string {
  if (typeof value !== 'string') throw new Unreadable('a field is no text');
  return value;
}

function textOrNull(value: unknown): string | null {
  return value === undefined || value === null ? null : text(value);
}

/** An object of Stripe comes as its id, or whole when the call has asked for it. */
function idOrNull(value: unknown): string | null {
  return typeof value === 'object' && value !== null ? text(fieldsOf(value)['id']) : textOrNull(value);
}

function integer(value: unknown): number {
  if (!Number.isSafeInteger(value)) throw new Unreadable('a field is no integer');
  return value as number;
}

function flag(value: unknown): boolean {
  if (typeof value !== 'boolean') throw new Unreadable('a field is no boolean');
  return value;
}

function metadataOf(value: unknown): StripeMetadata {
  return Object.fromEntries(Object.entries(fieldsOf(value)).map(([name, one]) => [name, text(one)]));
}

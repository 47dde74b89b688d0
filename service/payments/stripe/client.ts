/**
 * Our client of Stripe: eleven calls, over the port through which vendors are called. Requests and answers have the form
 * of the types of stripe-node 23.1.0 (read 2026-11-27); docs.stripe.com/api. No real account of Stripe was used.
 */
import type { Clock } from '../../values/runtime.ts';
import {
  CallBroke,
  createVendorHttp,
  fieldsOf,
  type Send,
  type VendorResponse,
} from '../../vendors/vendor-http.ts';
import { encodeForm, type FormFields } from './form.ts';
import {
  readCharge,
  readDispute,
  readEvent,
  readPage,
  readPaymentIntent,
  readRefund,
  readSession,
  type StripeCharge,
  type StripeDispute,
  type StripeEvent,
  type StripePage,
  type StripePaymentIntent,
  type StripeRefund,
  type StripeSession,
  Unreadable,
} from './objects.ts';

/** A newer version is a release of its own, which compares the fields of objects.ts. */
const stripeVersion = '2026-10-28.endive';
const stripeUrl = 'https://api.stripe.com';
const callMillis = 20_000;
const pageItems = 100;

export interface StripeAccess {
  /** The restricted key. Its prefix says whether money is real. */
  readonly key: () => Promise<string>;
  /** Has no slash at its end. Absent: Stripe itself. */
  readonly baseUrl?: string;
  /** Absent: fetch() sends, to any address. */
  readonly send?: Send;
  readonly clock: Pick<Clock, 'timeout'>;
  /** How long the caller can still wait. Absent: as long as a call may take. */
  readonly millisLeft?: () => number;
}

/** Why the effect of a call is unknown. Only the operator can fix `key_refused`. */
export type StripeDoubt =
  | 'no_answer'
  | 'server_error'
  | 'key_refused'
  | 'in_flight'
  | 'rate_limit'
  | 'idempotency_key'
  | 'unreadable';

export interface StripeRefusal {
  /** Such as card_error or invalid_request_error. */
  readonly type: string;
  readonly code: string | null;
  readonly declineCode: string | null;
  readonly param: string | null;
}

export type StripeOutcome<Found> =
  | { readonly kind: 'ok'; readonly object: Found }
  /**
   * Stripe did not do it, and never will. Only a PaymentIntent that the refusal names can still succeed, until it is
   * cancelled.
   */
  | { readonly kind: 'refused'; readonly error: StripeRefusal; readonly paymentIntent: string | null }
  /** It may have taken effect, or take effect later. Only the same Idempotency-Key may be sent again. */
  | { readonly kind: 'unknown'; readonly why: StripeDoubt };

/** A payment of our Checkout. Metadata of the session and of its PaymentIntent are the same. */
export interface SessionOrder {
  readonly amountCents: number;
  /** What the line on Stripe's page says. */
  readonly product: string;
  /** The payment's id, by which the operator finds it in Stripe's dashboard. */
  readonly reference: string;
  readonly metadata: Readonly<Record<string, string>>;
  /** Absent: Stripe makes a customer. */
  readonly customer?: string;
  readonly savesCard: boolean;
  /** Unix seconds: 30 minutes to 24 hours away. */
  readonly expiresAt: number;
  readonly successUrl: string;
  readonly cancelUrl: string;
  readonly automaticTax: boolean;
  readonly taxIds: boolean;
  readonly invoices: boolean;
}

/** A charge of a saved card without the person. */
export interface ChargeOrder {
  readonly amountCents: number;
  readonly customer: string;
  readonly paymentMethod: string;
  readonly description: string;
  readonly metadata: Readonly<Record<string, string>>;
}

export type Stripe = ReturnType<typeof createStripe>;

export function createStripe({ key, baseUrl = stripeUrl, send, clock, millisLeft }: StripeAccess) {
  const http = createVendorHttp({ baseUrl, hosts: [], ...(send && { send }) });

  async function ask<Found>(
    method: 'GET' | 'POST',
    path: string,
    fields: FormFields,
    read: (value: unknown) => Found,
    idempotencyKey?: string,
  ): Promise<StripeOutcome<Found>> {
    const form = encodeForm(fields);
    const headers = {
      authorization: `Bearer ${await key()}`,
      'stripe-version': stripeVersion,
      ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
    };
    const query = method === 'GET' && form.size > 0 ? `?${form.toString()}` : '';
    const limit = clock.timeout(Math.min(callMillis, Math.max(1, millisLeft?.() ?? callMillis)));
    try {
      const response = await http.call({
        method,
        to: `/v1/${path}${query}`,
        headers,
        ...(method === 'POST' && { body: form }),
        signal: limit.signal,
      });
      return outcomeOf(response, read);
    } catch (error) {
      if (error instanceof CallBroke || limit.signal.aborted) return unknown('no_answer');
      if (error instanceof Unreadable) return unknown('unreadable');
      throw error;
    } finally {
      limit.release();
    }
  }
  const list = <Item>(
    path: string,
    fields: FormFields,
    readItem: (value: unknown) => Item,
  ): Promise<StripeOutcome<StripePage<Item>>> =>
    ask('GET', path, { ...fields, limit: pageItems }, readPage(readItem));

  return {
    createSession: (order: SessionOrder, idempotencyKey: string): Promise<StripeOutcome<StripeSession>> =>
      ask('POST', 'checkout/sessions', sessionFields(order), readSession, idempotencyKey),
    getSession: (id: string): Promise<StripeOutcome<StripeSession>> =>
      ask('GET', `checkout/sessions/${encodeURIComponent(id)}`, {}, readSession),
    /** Charges a saved card at once. A card that wants its owner is declined. */
    createPaymentIntent: (
      order: ChargeOrder,
      idempotencyKey: string,
    ): Promise<StripeOutcome<StripePaymentIntent>> =>
      ask('POST', 'payment_intents', chargeFields(order), readPaymentIntent, idempotencyKey),
    /** With its card and its receipt. */
    getPaymentIntent: (id: string): Promise<StripeOutcome<StripePaymentIntent>> =>
      ask(
        'GET',
        `payment_intents/${encodeURIComponent(id)}`,
        { expand: ['latest_charge', 'payment_method'] },
        readPaymentIntent,
      ),
    /** Afterwards the PaymentIntent can never succeed. */
    cancelPaymentIntent: (id: string): Promise<StripeOutcome<StripePaymentIntent>> =>
      ask('POST', `payment_intents/${encodeURIComponent(id)}/cancel`, {}, readPaymentIntent),
    listPaymentIntents: (
      customer: string,
      after?: string,
    ): Promise<StripeOutcome<StripePage<StripePaymentIntent>>> =>
      list('payment_intents', { customer, starting_after: after }, readPaymentIntent),
    listRefunds: (paymentIntent: string, after?: string): Promise<StripeOutcome<StripePage<StripeRefund>>> =>
      list('refunds', { payment_intent: paymentIntent, starting_after: after }, readRefund),
    listDisputes: (paymentIntent: string): Promise<StripeOutcome<StripePage<StripeDispute>>> =>
      list('disputes', { payment_intent: paymentIntent }, readDispute),
    /** Events of the last 30 days. @param since Unix seconds */
    listEvents: (
      types: readonly string[],
      since: number,
      after?: string,
    ): Promise<StripeOutcome<StripePage<StripeEvent>>> =>
      list('events', { types, created: { gte: since }, starting_after: after }, readEvent),
    /** @param since Unix seconds, included @param before Unix seconds, not included */
    listCharges: (
      since: number,
      before: number,
      after?: string,
    ): Promise<StripeOutcome<StripePage<StripeCharge>>> =>
      list('charges', { created: { gte: since, lt: before }, starting_after: after }, readCharge),
    /** Afterwards the saved card cannot be charged. */
    detachPaymentMethod: (id: string): Promise<StripeOutcome<null>> =>
      ask('POST', `payment_methods/${encodeURIComponent(id)}/detach`, {}, () => null),
  };
}

/** No list of payment methods: the operator's dashboard decides which of them the page offers. */
function sessionFields(order: SessionOrder): FormFields {
  const { amountCents, product, metadata, customer, savesCard } = order;
  return {
    mode: 'payment',
    line_items: [
      {
        quantity: 1,
        price_data: {
          currency: 'usd',
          unit_amount: amountCents,
          tax_behavior: 'exclusive',
          product_data: { name: product },
        },
      },
    ],
    // Else Stripe may take another currency, and the payment is held.
    adaptive_pricing: { enabled: false },
    ...(customer === undefined ? { customer_creation: 'always' } : { customer }),
    // Tax and invoice of a known customer need the address and the name that the customer types.
    ...(customer !== undefined &&
      (order.automaticTax || order.taxIds) && { customer_update: { address: 'auto', name: 'auto' } }),
    client_reference_id: order.reference,
    metadata,
    payment_intent_data: { metadata, ...(savesCard && { setup_future_usage: 'off_session' }) },
    expires_at: order.expiresAt,
    success_url: order.successUrl,
    cancel_url: order.cancelUrl,
    ...(order.automaticTax && { automatic_tax: { enabled: true } }),
    ...(order.taxIds && { tax_id_collection: { enabled: true } }),
    ...(order.invoices && { invoice_creation: { enabled: true } }),
  };
}

function chargeFields({
  amountCents,
  customer,
  paymentMethod,
  description,
  metadata,
}: ChargeOrder): FormFields {
  return {
    amount: amountCents,
    currency: 'usd',
    customer,
    payment_method: paymentMethod,
    description,
    metadata,
    confirm: true,
    off_session: true,
    error_on_requires_action: true,
    // A charge that depends on the balance, at no regular time.
    payment_method_options: { card: { stored_credential_usage: 'unscheduled' } },
  };
}

/** Statuses after which the call may have taken effect, or may take it with the same key. */
const doubts: Readonly<Record<number, StripeDoubt>> = {
  401: 'key_refused',
  403: 'key_refused',
  409: 'in_flight',
  429: 'rate_limit',
};

function outcomeOf<Found>(response: VendorResponse, read: (value: unknown) => Found): StripeOutcome<Found> {
  const { status, json } = response;
  if (status >= 200 && status < 300) return { kind: 'ok', object: read(json) };
  if (status >= 500) return unknown('server_error');
  const doubt = doubts[status];
  if (doubt) return unknown(doubt);
  const error = fieldsOf(fieldsOf(json)['error']);
  const { type } = error;
  // Whatever answers without an error of Stripe is not Stripe: perhaps a proxy.
  if (status < 400 || typeof type !== 'string') return unknown('unreadable');
  if (type === 'idempotency_error') return unknown('idempotency_key');
  return {
    kind: 'refused',
    error: {
      type,
      code: word(error['code']),
      declineCode: word(error['decline_code']),
      param: word(error['param']),
    },
    paymentIntent: word(fieldsOf(error['payment_intent'])['id']),
  };
}

function word(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

function unknown(why: StripeDoubt): { readonly kind: 'unknown'; readonly why: StripeDoubt } {
  return { kind: 'unknown', why };
}

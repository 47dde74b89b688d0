/**
 * The objects of Stripe with the members that our requests and its events show, in the form of the version
 * 2026-10-28.endive (types of stripe-node 23.1.0, read 2026-11-27). Times are Unix seconds, amounts whole cents. The
 * file has more than 300 lines, because each object stands beside its type.
 */
import type { Card } from './cards.ts';

export const stripeVersion = '2026-10-28.endive';

type Metadata = Record<string, string>;

interface Common {
  readonly id: string;
  readonly created: number;
}

export interface Customer extends Common {
  readonly object: 'customer';
  readonly email: string | null;
  readonly [other: string]: unknown;
}

export interface PaymentMethod extends Common {
  readonly object: 'payment_method';
  /** Null when the method was never saved, or was detached: then nobody can charge it. */
  customer: string | null;
  readonly [other: string]: unknown;
}

export interface PaymentIntent extends Common {
  readonly object: 'payment_intent';
  readonly amount: number;
  readonly currency: string;
  readonly metadata: Metadata;
  readonly setup_future_usage: string | null;
  amount_received: number;
  customer: string | null;
  payment_method: string | null;
  latest_charge: string | null;
  last_payment_error: object | null;
  next_action: object | null;
  canceled_at: number | null;
  cancellation_reason: string | null;
  status:
    | 'requires_payment_method'
    | 'requires_confirmation'
    | 'requires_action'
    | 'processing'
    | 'succeeded'
    | 'canceled';
  readonly [other: string]: unknown;
}

export interface Session extends Common {
  readonly object: 'checkout.session';
  readonly amount_subtotal: number;
  readonly amount_total: number;
  readonly currency: string;
  readonly cancel_url: string | null;
  readonly success_url: string;
  readonly customer_creation: string | null;
  readonly expires_at: number;
  customer: string | null;
  customer_details: object | null;
  payment_intent: string | null;
  payment_status: 'paid' | 'unpaid';
  status: 'open' | 'complete' | 'expired';
  url: string | null;
  readonly [other: string]: unknown;
}

export interface Charge extends Common {
  readonly object: 'charge';
  readonly amount: number;
  readonly currency: string;
  readonly payment_intent: string;
  readonly customer: string | null;
  amount_captured: number;
  amount_refunded: number;
  disputed: boolean;
  refunded: boolean;
  paid: boolean;
  failure_code: string | null;
  failure_message: string | null;
  status: 'pending' | 'succeeded' | 'failed';
  readonly [other: string]: unknown;
}

export interface Refund extends Common {
  readonly object: 'refund';
  readonly amount: number;
  readonly charge: string;
  readonly payment_intent: string;
  status: 'pending' | 'succeeded' | 'failed' | 'canceled';
  failure_reason?: string;
  readonly [other: string]: unknown;
}

export interface Dispute extends Common {
  readonly object: 'dispute';
  readonly amount: number;
  readonly currency: string;
  readonly charge: string;
  readonly payment_intent: string;
  /** What Stripe took from the operator's balance, and what it gave back. An inquiry moves nothing. */
  balance_transactions: readonly BalanceTransaction[];
  status: 'warning_needs_response' | 'warning_closed' | 'needs_response' | 'under_review' | 'won' | 'lost';
  readonly [other: string]: unknown;
}

export interface BalanceTransaction extends Common {
  readonly object: 'balance_transaction';
  readonly amount: number;
  readonly [other: string]: unknown;
}

export interface StripeEvent extends Common {
  readonly object: 'event';
  readonly type: string;
  readonly livemode: boolean;
  readonly data: { readonly object: unknown };
  readonly [other: string]: unknown;
}

/** The kinds of objects by the name that each has in its member `object`. */
export interface Kinds {
  customer: Customer;
  payment_method: PaymentMethod;
  payment_intent: PaymentIntent;
  'checkout.session': Session;
  charge: Charge;
  refund: Refund;
  dispute: Dispute;
}

export type StripeObject = Kinds[keyof Kinds];

/** What every object takes of the call that makes it. */
export interface Birth {
  readonly id: string;
  readonly created: number;
  readonly livemode: boolean;
}

export function newCustomer(
  birth: Birth,
  given: {
    readonly email?: string | undefined;
    readonly name?: string | undefined;
    readonly description?: string | undefined;
    readonly metadata?: Metadata | undefined;
  },
): Customer {
  return {
    ...birth,
    object: 'customer',
    balance: 0,
    default_source: null,
    delinquent: false,
    description: given.description ?? null,
    email: given.email ?? null,
    invoice_settings: {
      custom_fields: null,
      default_payment_method: null,
      footer: null,
      rendering_options: null,
    },
    metadata: given.metadata ?? {},
    name: given.name ?? null,
    phone: null,
    shipping: null,
  };
}

export function newPaymentMethod(birth: Birth, card: Card, customer: string | null): PaymentMethod {
  return {
    ...birth,
    object: 'payment_method',
    billing_details: { address: null, email: null, name: null, phone: null, tax_id: null },
    customer,
    metadata: {},
    type: card.type,
    ...(card.type === 'card'
      ? {
          card: {
            brand: card.brand,
            checks: null,
            country: 'US',
            display_brand: card.brand,
            exp_month: 12,
            exp_year: new Date(birth.created * 1_000).getUTCFullYear() + 3,
            funding: 'credit',
            generated_from: null,
            last4: card.last4,
            networks: { available: [card.brand], preferred: null },
            three_d_secure_usage: { supported: true },
            wallet: null,
          },
        }
      : { us_bank_account: { account_type: 'checking', bank_name: 'STRIPE TEST BANK', last4: card.last4 } }),
  };
}

export function newPaymentIntent(
  birth: Birth,
  given: Pick<PaymentIntent, 'amount' | 'currency'> & {
    readonly customer?: string | undefined;
    readonly description?: string | undefined;
    readonly metadata?: Metadata | undefined;
    readonly payment_method?: string | undefined;
    readonly payment_method_options?: object | undefined;
    readonly setup_future_usage?: string | undefined;
  },
): PaymentIntent {
  return {
    ...birth,
    object: 'payment_intent',
    allowed_payment_method_types: null,
    amount: given.amount,
    amount_capturable: 0,
    amount_received: 0,
    application: null,
    application_fee_amount: null,
    automatic_payment_methods: { allow_redirects: 'always', enabled: true },
    canceled_at: null,
    cancellation_reason: null,
    capture_method: 'automatic_async',
    client_secret: `${birth.id}_secret_fake`,
    confirmation_method: 'automatic',
    currency: given.currency,
    customer: given.customer ?? null,
    description: given.description ?? null,
    last_payment_error: null,
    latest_charge: null,
    metadata: given.metadata ?? {},
    next_action: null,
    on_behalf_of: null,
    payment_method: given.payment_method ?? null,
    payment_method_options: given.payment_method_options ?? {},
    payment_method_types: ['card', 'us_bank_account'],
    processing: null,
    receipt_email: null,
    review: null,
    setup_future_usage: given.setup_future_usage ?? null,
    shipping: null,
    source: null,
    statement_descriptor: null,
    statement_descriptor_suffix: null,
    status: given.payment_method === undefined ? 'requires_payment_method' : 'requires_confirmation',
    transfer_group: null,
  };
}

/** @param receipts the address below which receipts are shown */
export function newCharge(birth: Birth, intent: PaymentIntent, card: Card, receipts: string): Charge {
  const { amount, currency, customer, payment_method, metadata } = intent;
  return {
    ...birth,
    object: 'charge',
    amount,
    amount_captured: 0,
    amount_refunded: 0,
    balance_transaction: null,
    billing_details: { address: null, email: null, name: null, phone: null, tax_id: null },
    captured: true,
    currency,
    customer,
    description: null,
    disputed: false,
    failure_code: null,
    failure_message: null,
    metadata,
    paid: false,
    payment_intent: intent.id,
    payment_method,
    payment_method_details: { type: card.type, [card.type]: { last4: card.last4 } },
    receipt_url: `${receipts}/${birth.id}`,
    refunded: false,
    status: 'pending',
  };
}

export function newRefund(
  birth: Omit<Birth, 'livemode'>,
  charge: Charge,
  given: {
    readonly amount: number;
    readonly reason?: string | undefined;
    readonly metadata?: Metadata | undefined;
  },
): Refund {
  return {
    ...birth,
    object: 'refund',
    amount: given.amount,
    balance_transaction: null,
    charge: charge.id,
    currency: charge.currency,
    customer: charge.customer,
    metadata: given.metadata ?? {},
    payment_intent: charge.payment_intent,
    payment_method: null,
    reason: given.reason ?? null,
    receipt_number: null,
    source_transfer_reversal: null,
    status: 'pending',
    transfer_reversal: null,
  };
}

export function newDispute(
  birth: Birth,
  charge: Charge,
  amount: number,
  status: 'warning_needs_response' | 'needs_response',
): Dispute {
  return {
    ...birth,
    object: 'dispute',
    amount,
    balance_transactions: [],
    charge: charge.id,
    currency: charge.currency,
    enhanced_eligibility_types: [],
    evidence: {},
    evidence_details: {
      due_by: birth.created + 7 * 86_400,
      has_evidence: false,
      past_due: false,
      submission_count: 0,
    },
    is_charge_refundable: status === 'warning_needs_response',
    metadata: {},
    payment_intent: charge.payment_intent,
    reason: 'fraudulent',
    status,
  };
}

/**
 * The calls of Stripe's API that the product makes, with their parameters; every other parameter is refused. The file
 * has more than 300 lines, because all calls and their parameters are one table.
 */
import * as z from 'zod';
import type { StripeAccount } from './account.ts';
import { loggedEvents, tell } from './events.ts';
import { newCustomer, newPaymentIntent, type PaymentMethod, type Session } from './objects.ts';
import { flag, integer, metadata, moments, page, readParameters, text } from './parameters.ts';
import { cancel, confirm, expire } from './payments.ts';
import { expanded, paged } from './pages.ts';
import { invalid, missing } from './refusals.ts';
import { refund } from './reversals.ts';

export interface Call {
  readonly account: StripeAccount;
  readonly live: boolean;
  /** The id in the path, or an empty text. */
  readonly id: string;
  /** Lists do not show what is younger. */
  readonly lagSeconds: number;
}

interface Operation {
  readonly method: string;
  /** The steps of the path; `*` stands for an id. */
  readonly steps: readonly string[];
  readonly run: (call: Call, form: string) => unknown;
}

const expand = z.array(text).optional();

function operation<Shape extends z.ZodRawShape>(
  route: string,
  shape: Shape,
  run: (call: Call, given: z.output<z.ZodObject<Shape>>) => unknown,
): Operation {
  const [method = '', path = ''] = route.split(' ');
  const schema = z.strictObject({ ...shape, expand });
  return {
    method,
    steps: path.split('/'),
    run: (call, form) => {
      const given = readParameters(schema, form) as z.output<z.ZodObject<Shape>> & { expand?: string[] };
      return expanded(call.account, run(call, given), given.expand ?? []);
    },
  };
}

const currency = text
  .transform((value) => value.toLowerCase())
  .refine((value) => /^[a-z]{3}$/.test(value), {
    error: 'Invalid currency',
  });
const enabled = z.strictObject({ enabled: flag }).optional();
const setupFutureUsage = z.enum(['off_session', 'on_session']).optional();
const credentialUsage = z.enum(['unscheduled', 'recurring', 'installment']).optional();

/** Stripe's least and largest amounts of a charge in USD. */
const leastCents = 50;
const mostCents = 99_999_999;

function checkAmount(amount: number): number {
  if (amount < leastCents)
    throw invalid('Amount must be at least $0.50 usd', { code: 'amount_too_small', param: 'amount' });
  if (amount > mostCents)
    throw invalid('Amount must be no more than $999,999.99', { code: 'amount_too_large', param: 'amount' });
  return amount;
}

const sessionParameters = {
  adaptive_pricing: enabled,
  allowed_payment_method_types: z.array(text).optional(),
  automatic_tax: enabled,
  cancel_url: text.optional(),
  client_reference_id: text.optional(),
  customer: text.optional(),
  customer_creation: z.enum(['always', 'if_required']).optional(),
  customer_email: text.optional(),
  customer_update: z
    .strictObject({
      address: z.enum(['auto', 'never']).optional(),
      name: z.enum(['auto', 'never']).optional(),
    })
    .optional(),
  expires_at: integer.optional(),
  invoice_creation: enabled,
  line_items: z
    .array(
      z.strictObject({
        price_data: z.strictObject({
          currency,
          product_data: z.strictObject({
            name: text,
            description: text.optional(),
            metadata: metadata.optional(),
            tax_code: text.optional(),
          }),
          tax_behavior: z.enum(['exclusive', 'inclusive', 'unspecified']).optional(),
          unit_amount: integer,
        }),
        quantity: integer,
      }),
    )
    .min(1),
  locale: text.optional(),
  metadata: metadata.optional(),
  mode: z.literal('payment', { error: 'This fake of Stripe knows only mode payment' }),
  payment_intent_data: z
    .strictObject({
      description: text.optional(),
      metadata: metadata.optional(),
      setup_future_usage: setupFutureUsage,
    })
    .optional(),
  success_url: text,
  tax_id_collection: enabled,
  ui_mode: z
    .literal('hosted_page', { error: 'This fake of Stripe knows only ui_mode hosted_page' })
    .optional(),
};

type SessionGiven = z.output<z.ZodObject<typeof sessionParameters>>;

/** The tax on everything that is sold with automatic tax. */
const taxShare = 0.1;
const halfHour = 1_800;
const day = 86_400;

function newSession({ account, live }: Call, given: SessionGiven): Session {
  const now = account.seconds();
  const expiresAt = given.expires_at ?? now + day;
  if (expiresAt < now + halfHour || expiresAt > now + day)
    throw invalid(
      'The `expires_at` timestamp must be between 30 minutes and 24 hours from Checkout Session creation.',
      { param: 'expires_at' },
    );
  if (given.customer !== undefined) account.get('customer', given.customer, live, 'customer');
  if (given.customer !== undefined && given.customer_creation !== undefined)
    throw invalid('You may only specify one of these parameters: customer, customer_creation.');
  const subtotal = given.line_items.reduce(
    (sum, { price_data: { unit_amount }, quantity }) => sum + unit_amount * quantity,
    0,
  );
  const isTaxed = given.automatic_tax?.enabled === true;
  const tax = isTaxed ? Math.round(subtotal * taxShare) : 0;
  const prefix = live ? 'cs_live' : 'cs_test';
  const birth = account.birth(prefix, live);
  const session: Session = {
    ...birth,
    object: 'checkout.session',
    adaptive_pricing: { enabled: given.adaptive_pricing?.enabled ?? true },
    amount_subtotal: subtotal,
    amount_total: checkAmount(subtotal + tax),
    automatic_tax: { enabled: isTaxed, liability: null, provider: null, status: isTaxed ? 'complete' : null },
    cancel_url: given.cancel_url ?? null,
    client_reference_id: given.client_reference_id ?? null,
    client_secret: null,
    currency: given.line_items[0]?.price_data.currency ?? 'usd',
    customer: given.customer ?? null,
    customer_creation: given.customer === undefined ? (given.customer_creation ?? 'if_required') : null,
    customer_details: null,
    customer_email: given.customer_email ?? null,
    expires_at: expiresAt,
    invoice: null,
    invoice_creation: { enabled: given.invoice_creation?.enabled ?? false },
    metadata: given.metadata ?? {},
    mode: given.mode,
    payment_intent: null,
    payment_method_types: ['card', 'us_bank_account'],
    payment_status: 'unpaid',
    setup_intent: null,
    status: 'open',
    subscription: null,
    success_url: given.success_url,
    total_details: { amount_discount: 0, amount_shipping: 0, amount_tax: tax },
    ui_mode: 'hosted_page',
    url: `${account.world.pagesUrl}/pay/${birth.id}`,
  };
  account.state.intentDataOf[session.id] = given.payment_intent_data ?? {};
  account.later(expiresAt - now, { kind: 'expire', session: session.id });
  return account.keep(session, live);
}

const intentParameters = {
  amount: integer,
  confirm: flag.optional(),
  currency,
  customer: text.optional(),
  description: text.optional(),
  error_on_requires_action: flag.optional(),
  metadata: metadata.optional(),
  off_session: flag.optional(),
  payment_method: text.optional(),
  payment_method_options: z
    .strictObject({
      card: z
        .strictObject({ setup_credential_usage: credentialUsage, stored_credential_usage: credentialUsage })
        .optional(),
    })
    .optional(),
  receipt_email: text.optional(),
  setup_future_usage: setupFutureUsage,
};

type IntentGiven = z.output<z.ZodObject<typeof intentParameters>>;

function newIntent({ account, live }: Call, given: IntentGiven): unknown {
  const isConfirmed = given.confirm === true;
  for (const name of ['off_session', 'error_on_requires_action'] as const)
    if (given[name] === true && !isConfirmed)
      throw invalid(`You may only specify this parameter when confirm=true: ${name}.`, { param: name });
  checkAmount(given.amount);
  if (given.customer !== undefined) account.get('customer', given.customer, live, 'customer');
  if (given.payment_method !== undefined) usableMethod(account, given, live);
  if (isConfirmed && given.payment_method === undefined)
    throw invalid("You cannot confirm this PaymentIntent because it's missing a payment method.", {
      code: 'payment_intent_unexpected_state',
    });
  const intent = account.keep(newPaymentIntent(account.birth('pi', live), given), live);
  tell(account, 'payment_intent.created', intent);
  if (isConfirmed)
    confirm(account, intent, {
      offSession: given.off_session === true,
      errorOnAction: given.error_on_requires_action === true,
    });
  return intent;
}

/** Throws for a method of nobody, or of another customer: it was never saved, or it was removed. */
function usableMethod(account: StripeAccount, given: IntentGiven, live: boolean): PaymentMethod {
  const id = given.payment_method ?? '';
  const method = account.find('payment_method', id);
  if (!method || account.isLive(id) !== live) throw missing('PaymentMethod', id, 'payment_method');
  if (method.customer === null)
    throw invalid(
      'The provided PaymentMethod was previously used without being attached to a Customer or was detached from a Customer, and may not be used again.',
    );
  if (method.customer !== given.customer)
    throw invalid(`The customer does not have a payment method with the ID ${id}.`, {
      code: 'resource_missing',
      param: 'payment_method',
    });
  return method;
}

function detached({ account, live, id }: Call): PaymentMethod {
  const method = account.get('payment_method', id, live);
  if (method.customer === null)
    throw invalid(
      'The payment method you provided is not attached to a customer so detachment is impossible.',
    );
  method.customer = null;
  tell(account, 'payment_method.detached', method);
  return method;
}

const refundParameters = {
  amount: integer.optional(),
  charge: text.optional(),
  metadata: metadata.optional(),
  payment_intent: text.optional(),
  reason: z.enum(['duplicate', 'fraudulent', 'requested_by_customer']).optional(),
};

function newRefund({ account, live }: Call, given: z.output<z.ZodObject<typeof refundParameters>>): unknown {
  if ((given.charge === undefined) === (given.payment_intent === undefined))
    throw invalid(
      'One of the following params should be provided for this request: payment_intent or charge.',
    );
  const intent =
    given.payment_intent === undefined
      ? undefined
      : account.get('payment_intent', given.payment_intent, live, 'payment_intent');
  const charge = account.get('charge', given.charge ?? intent?.latest_charge ?? '', live, 'charge');
  return refund(account, charge, given);
}

const customerParameters = {
  description: text.optional(),
  email: text.optional(),
  metadata: metadata.optional(),
  name: text.optional(),
};

const ofPayment = {
  charge: text.optional(),
  created: moments.optional(),
  payment_intent: text.optional(),
  ...page,
};

export const operations: readonly Operation[] = [
  operation('POST /v1/checkout/sessions', sessionParameters, newSession),
  operation(
    'GET /v1/checkout/sessions',
    { created: moments.optional(), payment_intent: text.optional(), ...page },
    (call, given) =>
      paged(call, call.account.list('checkout.session', call.live), given, '/v1/checkout/sessions'),
  ),
  operation('GET /v1/checkout/sessions/*', {}, ({ account, live, id }) =>
    account.get('checkout.session', id, live),
  ),
  operation('POST /v1/checkout/sessions/*/expire', {}, ({ account, live, id }) => {
    const session = account.get('checkout.session', id, live);
    expire(account, session);
    return session;
  }),
  operation('POST /v1/payment_intents', intentParameters, newIntent),
  operation(
    'GET /v1/payment_intents',
    { created: moments.optional(), customer: text.optional(), ...page },
    (call, given) =>
      paged(call, call.account.list('payment_intent', call.live), given, '/v1/payment_intents'),
  ),
  operation('GET /v1/payment_intents/*', {}, ({ account, live, id }) =>
    account.get('payment_intent', id, live),
  ),
  operation(
    'POST /v1/payment_intents/*/cancel',
    {
      cancellation_reason: z
        .enum(['abandoned', 'duplicate', 'fraudulent', 'requested_by_customer'])
        .optional(),
    },
    ({ account, live, id }, given) => {
      const intent = account.get('payment_intent', id, live);
      cancel(account, intent, given.cancellation_reason ?? null);
      return intent;
    },
  ),
  operation('POST /v1/customers', customerParameters, ({ account, live }, given) => {
    const customer = account.keep(newCustomer(account.birth('cus', live), given), live);
    tell(account, 'customer.created', customer);
    return customer;
  }),
  operation(
    'GET /v1/customers',
    { created: moments.optional(), email: text.optional(), ...page },
    (call, given) => paged(call, call.account.list('customer', call.live), given, '/v1/customers'),
  ),
  operation('GET /v1/customers/*', {}, ({ account, live, id }) => account.get('customer', id, live)),
  operation('GET /v1/payment_methods/*', {}, ({ account, live, id }) =>
    account.get('payment_method', id, live),
  ),
  operation('POST /v1/payment_methods/*/detach', {}, detached),
  operation('POST /v1/refunds', refundParameters, newRefund),
  operation('GET /v1/refunds', ofPayment, (call, given) =>
    paged(call, call.account.list('refund', call.live), given, '/v1/refunds'),
  ),
  operation('GET /v1/refunds/*', {}, ({ account, live, id }) => account.get('refund', id, live)),
  operation('GET /v1/disputes', ofPayment, (call, given) =>
    paged(call, call.account.list('dispute', call.live), given, '/v1/disputes'),
  ),
  operation(
    'GET /v1/charges',
    { created: moments.optional(), customer: text.optional(), payment_intent: text.optional(), ...page },
    (call, given) => paged(call, call.account.list('charge', call.live), given, '/v1/charges'),
  ),
  operation(
    'GET /v1/events',
    { created: moments.optional(), type: text.optional(), types: z.array(text).max(20).optional(), ...page },
    (call, { type, types, ...given }) => {
      if (type !== undefined && types)
        throw invalid('You may only specify one of these parameters: type, types.');
      const isWanted = (one: string): boolean =>
        (type === undefined || matches(type, one)) &&
        (!types || types.some((wanted) => matches(wanted, one)));
      const own = loggedEvents(call.account).filter(
        ({ livemode, type: one }) => livemode === call.live && isWanted(one),
      );
      return paged(call, own.toReversed(), given, '/v1/events');
    },
  ),
];

/** `charge.*` stands for all types that begin so. */
function matches(wanted: string, type: string): boolean {
  return wanted.endsWith('*') ? type.startsWith(wanted.slice(0, -1)) : type === wanted;
}

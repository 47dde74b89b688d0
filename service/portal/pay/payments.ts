/** Payments through Stripe, as the people of an account make and see them. */
import * as z from 'zod/mini';
import type { AccountId } from '../../values/ids.ts';
import type { ApiRequest } from '../../api/request.ts';
import type { PaymentsView, PaymentView } from '../../contract/portal-views.ts';
import { parseBody } from '../../operated/body.ts';
import { cursorWords, parametersOf } from '../../operated/parameters.ts';
import { isOfOperator } from '../../payments/auto-top-up.ts';
import { followPayment } from '../../payments/follow-payment.ts';
import { noteOutcome } from '../../payments/note-outcome.ts';
import { metadataOf } from '../../payments/payment-hint.ts';
import {
  type AnyPayment,
  isOfStripe,
  newPaymentId,
  parsePaymentId,
  type StripePayment,
} from '../../payments/payment.ts';
import type { SessionOrder, Stripe } from '../../payments/stripe/client.ts';
import { asMicros, formatUsd, fromUsd, microsOfCent, toUsd } from '../../values/money.ts';
import { type FieldError, Problem, retryLater } from '../../values/problem.ts';
import { monthOf } from '../../values/time.ts';
import type { PayHandle, PayServices } from './open.ts';

/** USD. Stripe takes whole cents. */
const least = 5;
const largest = 1_000;

const mostCheckouts = 10;
const hour = 60 * 60_000;
/** Stripe lets a page to pay on live for 30 minutes at least. */
const pageMinutes = 31;

/** Why an amount is none of these. @param field the name of the field */
export function amountProblem(
  field: string,
  amount: number,
  from: number,
  to: number,
): FieldError | undefined {
  const micros = fromUsd(amount);
  if (!Number.isFinite(amount) || micros % microsOfCent !== 0)
    return { field, code: 'invalid_value', message: 'must be an amount in whole cents' };
  const message = `must be from ${formatUsd(asMicros(from * 1e6))} to ${formatUsd(asMicros(to * 1e6))}`;
  if (amount < from) return { field, code: 'too_small', message };
  return amount > to ? { field, code: 'too_big', message } : undefined;
}

const paymentSchema = z.strictObject({ amount: z.number(), save_card: z.boolean() });

function paymentsClosed(): Problem {
  const message = 'Payments are closed after a dispute. Nothing was begun: ask the operator.';
  return new Problem('ERR_CONFLICT', message, { reason: 'payments_closed' });
}

/** Nothing was begun that costs money. */
function systemUnavailable(): Problem {
  const message = 'The payment system does not answer. Nothing was paid: try again in a minute.';
  return retryLater('ERR_PROVIDER_UNAVAILABLE', message, { reason: 'payment_system_unavailable' }, 60);
}

/** POST /payments: makes the page of Stripe on which the person pays. */
export const beginPayment: PayHandle<'beginPayment'> = async (request, { account, nowMillis }, services) => {
  const body = parseBody(request, paymentSchema, ({ amount }) => [
    amountProblem('amount', amount, least, largest),
  ]);
  const top = await services.topUps.read(account.id);
  if (isOfOperator(top.paused)) throw paymentsClosed();
  await checkRate(account.id, nowMillis, services);
  const payment: StripePayment = {
    id: newPaymentId(account.id, nowMillis, services.randomBytes(16)),
    accountId: account.id,
    kind: 'checkout',
    state: 'open',
    amountMicros: asMicros(fromUsd(body.amount)),
    reversedMicros: asMicros(0),
    version: 1,
    month: monthOf(nowMillis),
    livemode: await services.livemode(),
    ...(top.customer !== undefined && { customer: top.customer }),
    ...(body.save_card && { savesCard: true }),
    at: new Date(nowMillis).toISOString(),
  };
  await services.payments.beginCheckout(payment);
  const url = await pageOf(payment, services);
  const logged = { note: `${formatUsd(payment.amountMicros)}: ${payment.id}` };
  return { status: 201, body: { id: payment.id, url }, logged };
};

async function checkRate(account: AccountId, nowMillis: number, { allPayments }: PayServices): Promise<void> {
  const newest = await allPayments.list(account, mostCheckouts * 2);
  const since = nowMillis - hour;
  const lately = newest.filter(
    (one) => isOfStripe(one) && one.kind === 'checkout' && Date.parse(one.at) > since,
  );
  const oldest = lately[mostCheckouts - 1];
  if (!oldest) return;
  const message = `An account begins at most ${mostCheckouts} payments an hour.`;
  const seconds = Math.ceil((Date.parse(oldest.at) + hour - nowMillis) / 1_000);
  throw retryLater('ERR_RATE_LIMIT', message, { reason: 'checkout_rate', limit: mostCheckouts }, seconds);
}

/** The address of the page of Stripe. Throws 503, and then nobody can open the page. */
async function pageOf(payment: StripePayment, services: PayServices): Promise<string> {
  const { payments } = services;
  const outcome = await newSession(payment, services);
  if (outcome.kind === 'ok' && outcome.object.url !== null) {
    await payments.note(payment.id, { session: outcome.object.id });
    return outcome.object.url;
  }
  // Stripe refused the order, so there is no page. Without an answer there may be a page with an unknown
  // address.
  if (outcome.kind === 'refused') await payments.fail(payment.id, { state: 'failed' });
  if (outcome.kind === 'unknown') noteOutcome(services, { kind: 'later', why: outcome.why });
  throw systemUnavailable();
}

/** A customer that was deleted at Stripe must not keep the account from paying: Stripe then makes another one. */
async function newSession(
  payment: StripePayment,
  services: PayServices,
): ReturnType<Stripe['createSession']> {
  const { customer, ...unknown } = payment;
  const key = `dr_${payment.id}`;
  const outcome = await services.stripe.createSession(orderOf(payment, services), key);
  const isDeleted =
    customer !== undefined && outcome.kind === 'refused' && outcome.error.param === 'customer';
  return isDeleted
    ? services.stripe.createSession(orderOf(unknown, services), `${key}_new_customer`)
    : outcome;
}

function orderOf(payment: StripePayment, { clock, settings, paymentSettings }: PayServices): SessionOrder {
  const back = new URL('wallet', settings.portalUrl);
  const success = new URL(back);
  success.searchParams.set('payment', payment.id);
  return {
    amountCents: payment.amountMicros / microsOfCent,
    product: 'Credit',
    reference: payment.id,
    metadata: metadataOf(payment),
    ...(payment.customer !== undefined && { customer: payment.customer }),
    savesCard: payment.savesCard === true,
    expiresAt: Math.floor(clock.now() / 1_000) + pageMinutes * 60,
    successUrl: success.href,
    cancelUrl: back.href,
    automaticTax: paymentSettings.automatic_tax,
    taxIds: paymentSettings.tax_ids,
    invoices: paymentSettings.invoices,
  };
}

/** GET /payments: the newest first. */
export const listPayments: PayHandle<'listPayments'> = async (request, { account }, services) => ({
  status: 200,
  body: await paymentsOf(request, account.id, services),
});

/** The payments of any account, by ?limit and ?cursor. */
export async function paymentsOf(
  request: ApiRequest,
  account: AccountId,
  services: PayServices,
): Promise<PaymentsView> {
  const parameters = parametersOf(request);
  const after = parameters.read('cursor', (text) => parsePaymentId(text, account), cursorWords);
  const limit = parameters.limit();
  parameters.check();
  const [found, top] = await Promise.all([
    services.allPayments.list(account, limit + 1, after),
    services.topUps.read(account),
  ]);
  const data = found.slice(0, limit);
  return {
    data: data.map((one) => paymentView(one)),
    next_cursor: found.length > limit ? (data.at(-1)?.id ?? null) : null,
    test_mode: !(await services.livemode()),
    is_closed: isOfOperator(top.paused),
    least,
    largest,
  };
}

/** GET /payments/{id}: called by the page after a payment, so Stripe is read first. */
export const getPayment: PayHandle<'getPayment'> = async (request, { account }, services) => {
  const read = (): Promise<AnyPayment> => paymentOf(account.id, request.pathId, services);
  const payment = await read();
  if (!isOfStripe(payment) || payment.state === 'succeeded')
    return { status: 200, body: paymentView(payment) };
  const followed = await followPayment(services, payment);
  noteOutcome(services, followed);
  return { status: 200, body: paymentView(await read(), followed.kind === 'processing') };
};

/** GET /payments/{id}/receipt: Stripe says where its receipt is now. Nothing of the address is stored. */
export const getReceipt: PayHandle<'getReceipt'> = async (request, { account }, services) => {
  const payment = await paymentOf(account.id, request.pathId, services);
  const intent = isOfStripe(payment) ? payment.paymentIntent : undefined;
  if (intent === undefined) throw paymentNotFound();
  const outcome = await services.stripe.getPaymentIntent(intent);
  if (outcome.kind !== 'ok') throw systemUnavailable();
  if (outcome.object.receiptUrl === null) throw paymentNotFound();
  return { status: 303, body: null, text: '', headers: { location: outcome.object.receiptUrl } };
};

/** Throws the same 404 for an id of another account as for one that does not exist. */
async function paymentOf(
  account: AccountId,
  text: string,
  { allPayments }: Pick<PayServices, 'allPayments'>,
): Promise<AnyPayment> {
  const id = parsePaymentId(text, account);
  const payment = id && (await allPayments.read(id));
  if (!payment) throw paymentNotFound();
  return payment;
}

function paymentNotFound(): Problem {
  return new Problem('ERR_NOT_FOUND', 'There is no such payment.');
}

export function paymentView(payment: AnyPayment, isProcessing = false): PaymentView {
  const { id, at, creditedMicros, reversedMicros } = payment;
  const shared = { id, at, reversed: toUsd(reversedMicros) };
  if (!isOfStripe(payment)) {
    const amount = toUsd(payment.creditedMicros);
    return { ...shared, kind: 'outside', state: 'succeeded', amount, credited: amount, has_receipt: false };
  }
  const { kind, state, amountMicros } = payment;
  return {
    ...shared,
    kind,
    state: isProcessing && state === 'open' ? 'processing' : state,
    amount: toUsd(amountMicros),
    credited: creditedMicros === undefined ? null : toUsd(creditedMicros),
    has_receipt: creditedMicros !== undefined,
  };
}

/** The wallet in the operator API: payments and their reversals, adjustments, the ledger. */
import * as z from 'zod/mini';
import type { Account } from '../accounts/account.ts';
import type { Movement, MovementOutcome } from '../accounts/wallet-store.ts';
import type { ApiAnswer } from '../api/answer.ts';
import { checkAfterCommand } from '../notices/check-thresholds.ts';
import { movementWords } from '../operated/accounts.ts';
import { microsOf, parseBody, shownText, usd } from '../operated/body.ts';
import { cursorWords, dayIn, fromCursor, parametersOf, toCursor, wrong } from '../operated/parameters.ts';
import { Overloaded } from '../values/errors.ts';
import {
  asMicros,
  formatUsd,
  hasAtMostSixDecimals,
  largestAvailableMicros,
  type Micros,
  toUsd,
} from '../values/money.ts';
import { invalidRequest } from '../values/problem.ts';
import type { PlacedRow } from './account-edit-store.ts';
import {
  accountOf,
  changing,
  conflict,
  creditRefused,
  notFound,
  type OperatorContext,
  pageOf,
  reading,
} from './context.ts';
import {
  type AnyPayment,
  isOfStripe,
  newPaymentId,
  parsePaymentId,
  type Payment,
} from '../payments/payment.ts';

function walletView({ availableMicros, creditLineMicros }: Account) {
  return {
    available: toUsd(availableMicros),
    balance: toUsd(asMicros(availableMicros - creditLineMicros)),
    credit_line: toUsd(creditLineMicros),
  };
}

export const getWallet = reading(async (context) => ({
  status: 200,
  body: walletView(await accountOf(context)),
}));

function paymentView(payment: AnyPayment) {
  const isStripe = isOfStripe(payment);
  return {
    id: payment.id,
    account: payment.accountId,
    kind: isStripe ? payment.kind : 'outside',
    state: isStripe ? payment.state : 'succeeded',
    amount: toUsd(isStripe ? payment.amountMicros : payment.creditedMicros),
    reversed: toUsd(payment.reversedMicros),
    reference: isStripe ? null : payment.reference,
    source: isStripe ? 'stripe' : (payment.source ?? null),
    note: isStripe ? null : (payment.note ?? null),
    at: payment.at,
    by: isStripe ? null : payment.by,
  };
}

async function paymentOf(text: string, { services }: OperatorContext): Promise<AnyPayment> {
  const payment = await services.payments.read(text);
  if (!payment) throw notFound();
  return payment;
}

/** The refusals that every movement of money shares. */
function refused(outcome: MovementOutcome, amount: Micros): Error {
  switch (outcome.kind) {
    case 'reference_taken':
      return referenceTaken(outcome.by);
    case 'below_zero': {
      const { balanceMicros: balance } = outcome;
      const after = asMicros(balance + amount);
      // The credit line changed, and not the balance.
      if (after >= 0) return new Overloaded('the credit line changed meanwhile');
      const message = `The balance would go to ${formatUsd(after)}. Nothing was changed: allow_negative allows it.`;
      return conflict('below_zero', message, { balance: toUsd(balance), after: toUsd(after) });
    }
    case 'out_of_range': {
      const message = `what an account can spend stays between -${formatUsd(largestAvailableMicros)} and ${formatUsd(largestAvailableMicros)}`;
      return invalidRequest([{ field: 'amount', code: 'out_of_range', message }]);
    }
    case 'applied':
    case 'already_applied':
    case 'refused_beside':
      return new Overloaded('something changed meanwhile');
  }
}

function referenceTaken({ kind, amountMicros, at }: Movement): Error {
  const message = `The reference stands for ${movementWords[kind]} of ${formatUsd(amountMicros)}. Nothing was changed: use another reference.`;
  return conflict('reference_taken', message, { kind, amount: toUsd(amountMicros), at });
}

const paymentSchema = z.strictObject({
  amount: usd('above zero'),
  reference: shownText('reference'),
  source: z.optional(shownText('name')),
  note: z.optional(shownText('reason')),
});

const shownPayment = async (made: string, context: OperatorContext): Promise<object> => ({
  ...paymentView(await paymentOf(made, context)),
  already_applied: false,
});

/** POST /accounts/{id}/payments: a reference counts once, also if a command used it. */
export const createPayment = changing({
  body: ({ request }) => parseBody(request, paymentSchema),
  run: async (body, context) => {
    const { services, key, nowMillis } = context;
    const account = await accountOf(context);
    const amount = microsOf(body.amount);
    await context.noteIn(account.id, `${formatUsd(amount)}: ${body.reference}`);
    const payment: Payment = {
      id: newPaymentId(account.id, nowMillis, services.randomBytes(16)),
      accountId: account.id,
      reference: body.reference,
      creditedMicros: amount,
      reversedMicros: asMicros(0),
      ...(body.source !== undefined && { source: body.source }),
      ...(body.note !== undefined && { note: body.note }),
      at: new Date(nowMillis).toISOString(),
      by: key.id,
    };
    const outcome = await services.wallet.move(
      account.id,
      {
        kind: 'payment',
        amountMicros: amount,
        reference: body.reference,
        payment: payment.id,
        by: key.id,
      },
      {
        beside: [
          services.payments.toPut(payment),
          services.operatorKeys.credits(key, amount, nowMillis),
          ...context.remembers(payment.id, 201),
        ],
      },
    );
    if (outcome.kind !== 'applied') await context.throwIfRepeated();
    const answered = (isRepeated: boolean, shown: AnyPayment): ApiAnswer => ({
      status: isRepeated ? 200 : 201,
      body: { ...paymentView(shown), already_applied: isRepeated },
    });
    if (outcome.kind === 'applied' || outcome.kind === 'already_applied')
      await checkAfterCommand({ accountId: account.id, periods: {} }, services);
    if (outcome.kind === 'applied') return answered(false, payment);
    if (outcome.kind === 'already_applied')
      return answered(true, await paymentOf(outcome.by.payment ?? '', context));
    if (outcome.kind === 'refused_beside') throw await creditRefused(amount, context);
    throw refused(outcome, amount);
  },
  show: shownPayment,
});

export const getPayment = reading(async (context) => ({
  status: 200,
  body: paymentView(await paymentOf(context.params['payment'] ?? '', context)),
}));

export const listPayments = reading(async (context) => {
  const { request, services } = context;
  const parameters = parametersOf(request);
  const limit = parameters.limit();
  const { id } = await accountOf(context);
  const after = parameters.read(
    'cursor',
    (text) => parsePaymentId(String(fromCursor(text)), id),
    cursorWords,
  );
  parameters.check();
  const rows = await services.payments.list(id, limit + 1, after);
  return pageOf(rows, limit, paymentView, (row) => toCursor(row.id));
});

function managedByStripe(): Error {
  const message = 'Refund a payment of Stripe at Stripe. The account follows within minutes.';
  return conflict('managed_by_stripe', message, {});
}

const reversalSchema = z.strictObject({
  reference: shownText('reference'),
  reason: shownText('reason'),
  amount: z.optional(usd('above zero')),
});

/** POST /payments/{id}/reversals: never more than was credited. It may take the balance below zero. */
export const reversePayment = changing({
  body: ({ request }) => parseBody(request, reversalSchema),
  run: async (body, context) => {
    const { services, key } = context;
    const payment = await paymentOf(context.params['payment'] ?? '', context);
    if (isOfStripe(payment)) throw managedByStripe();
    const left = asMicros(payment.creditedMicros - payment.reversedMicros);
    const given = body.amount === undefined ? undefined : microsOf(body.amount);
    // A repetition without an amount means what the first request meant: the reference knows it.
    const amount = given ?? (left > 0 ? left : payment.creditedMicros);
    await context.noteIn(payment.accountId, `${formatUsd(amount)} back: ${body.reference}`);
    const outcome = await services.wallet.move(
      payment.accountId,
      {
        kind: 'payment_reversed',
        amountMicros: asMicros(0 - amount),
        reference: body.reference,
        reason: body.reason,
        payment: payment.id,
        by: key.id,
      },
      { beside: [services.payments.toReverse(payment, amount), ...context.remembers(payment.id, 201)] },
    );
    if (outcome.kind !== 'applied') await context.throwIfRepeated();
    const isSame =
      outcome.kind === 'reference_taken' &&
      given === undefined &&
      outcome.by.kind === 'payment_reversed' &&
      outcome.by.payment === payment.id;
    if (outcome.kind === 'applied' || outcome.kind === 'already_applied' || isSame) {
      await checkAfterCommand({ accountId: payment.accountId, periods: {} }, services);
      const isRepeated = outcome.kind !== 'applied';
      const view = paymentView(await paymentOf(payment.id, context));
      return { status: isRepeated ? 200 : 201, body: { ...view, already_applied: isRepeated } };
    }
    if (outcome.kind === 'refused_beside') {
      const { creditedMicros, reversedMicros } = await paymentOf(payment.id, context);
      const most = asMicros((creditedMicros ?? 0) - reversedMicros);
      const message = `at most ${formatUsd(most)}, what is left of the payment`;
      throw invalidRequest([{ field: 'amount', code: 'out_of_range', message }]);
    }
    throw refused(outcome, amount);
  },
  show: shownPayment,
});

const adjustmentSchema = z.strictObject({
  amount: z.number().check(
    z.refine(
      (value) =>
        value !== 0 &&
        Math.abs(value) <= toUsd(largestAvailableMicros) &&
        hasAtMostSixDecimals(Math.abs(value)),
      {
        error: `must not be 0, with at most 6 decimals, and at most ${formatUsd(largestAvailableMicros)}`,
        params: { code: 'out_of_range' },
      },
    ),
  ),
  reference: shownText('reference'),
  reason: shownText('reason'),
  allow_negative: z.optional(z.boolean()),
});

/** POST /accounts/{id}/adjustments: adds to the balance, or takes from it. */
export const adjustWallet = changing({
  body: ({ request }) => parseBody(request, adjustmentSchema),
  run: async (body, context) => {
    const { services, key, nowMillis } = context;
    const account = await accountOf(context);
    const amount = body.amount > 0 ? microsOf(body.amount) : asMicros(0 - microsOf(0 - body.amount));
    await context.noteIn(account.id, `${formatUsd(amount)}: ${body.reference}`);
    const mayGoBelow = amount > 0 || body.allow_negative === true;
    const outcome = await services.wallet.move(
      account.id,
      {
        kind: 'adjustment',
        amountMicros: amount,
        reference: body.reference,
        reason: body.reason,
        by: key.id,
      },
      {
        beside: [
          ...(amount > 0 ? [services.operatorKeys.credits(key, amount, nowMillis)] : []),
          ...context.remembers(account.id, 201),
        ],
        ...(!mayGoBelow && { creditLineMicros: account.creditLineMicros }),
      },
    );
    if (outcome.kind !== 'applied') await context.throwIfRepeated();
    if (outcome.kind !== 'applied' && outcome.kind !== 'already_applied')
      throw outcome.kind === 'refused_beside'
        ? await creditRefused(amount, context)
        : refused(outcome, amount);
    await checkAfterCommand({ accountId: account.id, periods: {} }, services);
    const isRepeated = outcome.kind === 'already_applied';
    return {
      status: isRepeated ? 200 : 201,
      body: { ...(await adjustedView(context)), already_applied: isRepeated },
    };
  },
  show: async (_made, context) => ({ ...(await adjustedView(context)), already_applied: false }),
});

async function adjustedView(context: OperatorContext): Promise<object> {
  return walletView(await accountOf(context));
}

function rowView({ id, row }: PlacedRow) {
  return {
    id,
    kind: row.kind,
    amount: toUsd(row.amountMicros),
    at: row.at,
    creation: row.creationId ?? null,
    key: row.keyId ?? null,
    user: row.user ?? null,
    reference: row.reference ?? null,
    reason: row.reason ?? null,
    payment: row.payment ?? null,
    by: row.by ?? null,
  };
}

/** No ledger is older or newer. */
const [firstDay, lastDay] = ['2000-01-01', '9998-12-31'];
const rowKey = /^\d{4}-\d\d-\d\dT[\d:.]+Z#[a-z_]+#[\w-]+$/;

export const listLedger = reading(async (context) => {
  const { request, services } = context;
  const parameters = parametersOf(request);
  const limit = parameters.limit();
  const words = 'must be a UTC day, such as 2026-11-21';
  const from = parameters.read('from', dayIn, words) ?? firstDay;
  const to = parameters.read('to', dayIn, words) ?? lastDay;
  const after = parameters.read(
    'cursor',
    (text) => {
      const place = fromCursor(text);
      return typeof place === 'string' && rowKey.test(place) ? place : undefined;
    },
    cursorWords,
  );
  parameters.check();
  if (from > to) throw wrong('from', 'must not be after "to"');
  const { id } = await accountOf(context);
  const rows = await services.edits.ledger(id, { from, to }, limit + 1, after);
  return pageOf(rows, limit, rowView, (row) => toCursor(row.id));
});

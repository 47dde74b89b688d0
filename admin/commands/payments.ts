/** Payments through Stripe: the key, what came in, and the comparison with Stripe's own books. */
import type { Row } from '../../client/command/terminal/output.ts';
import { AuditBroke, auditPayments } from '../../service/payments/audit-payments.ts';
import { isOfOperator } from '../../service/payments/auto-top-up.ts';
import { type Followed, followPayment } from '../../service/payments/follow-payment.ts';
import { followIntent, type Hinted } from '../../service/payments/payment-hint.ts';
import { type AnyPayment, isOfStripe, partsOf, type PaymentId } from '../../service/payments/payment.ts';
import { isLive, type StripeSecret } from '../../service/payments/payment-system.ts';
import { again } from '../../service/payments/payment-transaction.ts';
import { toUsd } from '../../service/values/money.ts';
import type { OperatorCommand } from '../operator-command.ts';
import { OperatorError } from '../operator-error.ts';
import type { OperatorServices } from '../services.ts';
import { confirm, readTexts } from '../terminal/dialogue.ts';
import * as values from '../terminal/values.ts';

export function addPaymentCommands(program: OperatorCommand): void {
  const payments = program.task('payments', 'payments through Stripe: set up, list, follow, compare');
  payments
    .task(
      'set-stripe',
      'set the restricted key and the secret of the webhook, asked for without an echo or read from standard input',
    )
    .option('--yes', 'also change between test mode and real money, without a question')
    .run(async ({ services, output }, { yes }: { yes?: boolean }) => {
      output.show(...(await setStripe(services, yes === true)));
    });
  payments
    .task('list [account]', 'the payments of an account, the newest first; without one, those that are held')
    .run(async ({ services, output }, id?: string) => {
      const rows = id === undefined ? await heldRows(services) : await accountRows(services, id);
      output.list(rows, id === undefined ? 'No payment is held.' : 'The account has no payments.');
    });
  payments
    .task('show <payment>', 'one payment, and the automatic top-up of its account')
    .run(async ({ services, output }, text: string) => {
      const payment = await stored(services, text);
      const top = await services.payments().topUps.read(payment.accountId);
      output.show({
        ...rowOf(payment),
        auto_top_up: top.paused === undefined ? (top.isOn ? 'on' : 'off') : `paused: ${top.paused}`,
      });
    });
  payments
    .task('refresh <payment>', 'read a payment at Stripe now; also takes the id of a PaymentIntent: pi_…')
    .run(async ({ services, output }, text: string) => {
      output.show(await refresh(services, text));
    });
  payments
    .task('pause <account>', 'stop the automatic top-up of an account, and close payments for it')
    .run(async ({ services, output }, id: string) => {
      output.show(await setPause(services, id, true));
    });
  payments
    .task('clear <account>', 'open payments and the automatic top-up again, as after a dispute')
    .run(async ({ services, output }, id: string) => {
      output.show(await setPause(services, id, false));
    });
  payments
    .task('audit', 'compare every charge at Stripe with the payments here; exit code 1 when one differs')
    .requiredOption('--from <day>', 'the first day, such as 2026-11-01 (UTC)')
    .requiredOption('--to <day>', 'the last day')
    .run(async ({ services, output, tell, fail }, { from, to }: { from: string; to: string }) => {
      const { charges, payments: found, differences } = await audit(services, from, to);
      tell(
        `${charges} charges at Stripe, ${found} credited payments here, ${differences.length} differences`,
      );
      output.list(differences, 'Every charge agrees with its payment.');
      if (differences.length > 0) fail();
    });
}

/** Throws OperatorError for a text that is no key of Stripe, before anything is changed. */
async function setStripe(services: OperatorServices, isYes: boolean): Promise<[Row, string]> {
  const { secret, stripe, hasPayments, webhookUrl } = services.payments();
  const before = await secret.read();
  const texts = await readTexts('Restricted key (rk_…) and webhook secret (whsec_…), with a space between: ');
  const key = keyIn(texts) ?? before.key;
  if (key === undefined) throw new OperatorError('The key is missing: it begins with rk_live_ or rk_test_.');
  const given = texts.filter((text) => text.startsWith('whsec_'));
  const kept = (before.webhook_secrets ?? []).filter((text) => !given.includes(text));
  const isOtherMode = before.key !== undefined && isLive(before.key) !== isLive(key);
  if (isOtherMode && (await hasPayments()))
    await confirm('This changes between test mode and real money, and there are payments.', isYes);
  // Stripe signs with the old secret for up to a day while it is rolled.
  const next: StripeSecret = { key, webhook_secrets: [...given, ...kept].slice(0, 2) };
  await secret.write(next);
  const asked = await stripe(key).listCharges(0, 1);
  const isRefused = asked.kind === 'unknown' && asked.why === 'key_refused';
  return [
    {
      mode: isLive(key) ? 'live' : 'test',
      key: isRefused ? 'refused' : asked.kind === 'ok' ? 'accepted' : 'not checked',
      webhook_secrets: next.webhook_secrets?.length ?? 0,
      webhook_url: webhookUrl,
    },
    isRefused
      ? 'Stripe refuses the key: check that it may read charges.'
      : 'The functions use this within five minutes.',
  ];
}

function keyIn(texts: readonly string[]): string | undefined {
  const unknown = texts.find((text) => !/^(rk_(live|test)_|whsec_)[\x21-\x7e]{8,250}$/.test(text));
  if (unknown?.startsWith('sk_') === true)
    throw new OperatorError(
      'That is a full secret key. Make a restricted key at Stripe: it begins with rk_.',
    );
  if (unknown !== undefined)
    throw new OperatorError('One of the texts begins neither with rk_live_, rk_test_ nor with whsec_.');
  const [key, other] = texts.filter((text) => text.startsWith('rk_'));
  if (other !== undefined) throw new OperatorError('There are two keys: give one.');
  return key;
}

async function heldRows(services: OperatorServices): Promise<Row[]> {
  const rows: Row[] = [];
  for await (const payment of services.payments().payments.held()) rows.push(rowOf(payment));
  return rows;
}

const mostRows = 1_000;

async function accountRows(services: OperatorServices, id: string): Promise<Row[]> {
  const account = await values.account(services, id);
  return (await services.payments().allPayments.list(account.id, mostRows)).map(rowOf);
}

async function stored(services: OperatorServices, text: string): Promise<AnyPayment> {
  const payment = await services.payments().allPayments.read(text);
  if (!payment) throw new OperatorError(`There is no payment ${JSON.stringify(text)}.`);
  return payment;
}

function rowOf(payment: AnyPayment): Row {
  const { id, accountId, creditedMicros, reversedMicros, at } = payment;
  const ofStripe = isOfStripe(payment) ? payment : undefined;
  return {
    payment: id,
    account: accountId,
    kind: ofStripe?.kind ?? 'outside',
    state: ofStripe?.state ?? 'succeeded',
    amount: toUsd(ofStripe?.amountMicros ?? creditedMicros ?? payment.reversedMicros),
    credited: creditedMicros === undefined ? null : toUsd(creditedMicros),
    reversed: toUsd(reversedMicros),
    at,
    payment_intent: ofStripe?.paymentIntent ?? null,
  };
}

/** Follows a payment by its record, or by its PaymentIntent when the record is lost. */
async function refresh(services: OperatorServices, text: string): Promise<Row> {
  const { follow, payments, intentOf } = services.payments();
  if (text.startsWith('pi_')) return outcomeRow(text, await followIntent(follow, text));
  if (!partsOf(text)) throw new OperatorError(`${JSON.stringify(text)} is no id of a payment: pay_… or pi_…`);
  const payment = await payments.read(text as PaymentId);
  if (payment) return outcomeRow(text, await followPayment(follow, payment));
  const intent = await intentOf(text as PaymentId);
  if (intent === undefined) throw new OperatorError(`Neither this service nor Stripe has a payment ${text}.`);
  return outcomeRow(text, await followIntent(follow, intent));
}

function outcomeRow(payment: string, outcome: Followed | Hinted): Row {
  const why = 'why' in outcome ? outcome.why : null;
  return { payment, outcome: outcome.kind, why };
}

async function setPause(services: OperatorServices, id: string, isPaused: boolean): Promise<Row> {
  const { topUps } = services.payments();
  const account = await values.account(services, id);
  await again(async () => {
    const before = await topUps.read(account.id);
    const isDone = isPaused
      ? before.paused === 'operator' || (await topUps.pause(before, 'operator'))
      : before.paused === undefined || (await topUps.resume(before));
    return isDone || undefined;
  });
  const { paused, isOn } = await topUps.read(account.id);
  return {
    account: account.id,
    payments: isOfOperator(paused) ? 'closed' : 'open',
    auto_top_up: paused === undefined ? (isOn ? 'on' : 'off') : `paused: ${paused}`,
  };
}

const dayMillis = 24 * 60 * 60_000;

async function audit(services: OperatorServices, from: string, to: string) {
  const { auditing } = services.payments();
  const first = Date.parse(values.day('--from', from));
  const last = Date.parse(values.day('--to', to));
  if (last < first) throw new OperatorError('--to: must not be before --from.');
  try {
    const { differences, ...counts } = await auditPayments(auditing, first, last + dayMillis);
    const rows = differences.map(
      ({ kind, payment, charge, paymentIntent, expectedMicros, foundMicros }): Row => ({
        difference: kind,
        payment,
        at_stripe: toUsd(expectedMicros),
        here: toUsd(foundMicros),
        charge,
        payment_intent: paymentIntent,
      }),
    );
    return { ...counts, differences: rows };
  } catch (error) {
    if (error instanceof AuditBroke)
      throw new OperatorError(`${error.message}: nothing is known yet. Try again in a minute.`);
    throw error;
  }
}

/** The statement of a month: what the balance was, what changed it, and what it became. */
import type { StatementView } from '../../contract/portal-views.ts';
import { monthIn, parametersOf, wrong } from '../../operated/parameters.ts';
import type { StatementLine } from '../../usage/statement-reads.ts';
import { asMicros, toUsd } from '../../values/money.ts';
import { monthsSince, noteOf } from './ledger.ts';
import type { ReadHandle } from './open.ts';
import { firstDayOf } from './usage.ts';

/** GET /statement; ?month. The first month is that in which the account was opened. */
export const getStatement: ReadHandle<'getStatement'> = async (request, { account, nowMillis }, services) => {
  const parameters = parametersOf(request);
  const thisMonth = new Date(nowMillis).toISOString().slice(0, 7);
  const month = parameters.read('month', monthIn, 'must be a UTC month, such as 2026-11') ?? thisMonth;
  parameters.check();
  if (month > thisMonth) throw wrong('month', 'must not be in the future');
  const found = await services.statements.statement(account.id, {
    month,
    since: firstDayOf(account),
    nowMillis,
  });
  const sumOf = (lines: readonly { readonly micros: number }[]): number =>
    toUsd(asMicros(lines.reduce((sum, { micros }) => sum + micros, 0)));
  const body: StatementView = {
    month,
    months: monthsSince(account.createdAt, nowMillis),
    account: { id: account.id, name: account.name },
    is_final: found.until.slice(0, 7) > month,
    until: found.until,
    opening_balance: toUsd(found.openingMicros),
    charges: found.charges.map(lineView),
    charged: sumOf(found.charges),
    refunds: found.refunds.map(lineView),
    refunded: sumOf(found.refunds),
    others: found.others.map(({ kind, micros }) => ({ kind, amount: toUsd(micros) })),
    movements: found.movements.map((row) => ({
      at: row.at,
      kind: row.kind,
      amount: toUsd(row.amountMicros),
      note: noteOf(row),
    })),
    closing_balance: toUsd(found.closingMicros),
  };
  return { status: 200, body };
};

function lineView({ model, count, micros }: StatementLine): StatementView['charges'][number] {
  return { model, count, amount: toUsd(micros) };
}

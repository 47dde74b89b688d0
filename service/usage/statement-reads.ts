/**
 * The statement of a month. The balance of a moment is that of now without the rows since then, so a month is read
 * from its first day on. Rows of the last five minutes are left out: others may still come in between them.
 */
import type { LedgerKind, LedgerRow } from '../accounts/account.ts';
import { getItem } from '../aws/dynamodb/send.ts';
import { keys, type Table } from '../aws/dynamodb/table.ts';
import { Overloaded } from '../values/errors.ts';
import type { AccountId } from '../values/ids.ts';
import { asMicros, type Micros } from '../values/money.ts';
import { completed, readLedgerRows } from './booked-row-reads.ts';
import { createLedgerReads, settledMillis } from './ledger-store.ts';

const tries = 5;
const mostMovements = 500;

export function createStatementReads(table: Table) {
  return {
    /** Throws Overloaded when rows are written faster than they can be read. @param month "2026-11", in UTC */
    statement: async (account: AccountId, month: string, nowMillis: number): Promise<Statement> => {
      const until = new Date(nowMillis - settledMillis).toISOString();
      const balance = await balanceAt(table, account, until, nowMillis);
      return monthBefore(table, account, { month, until, balance });
    },
  };
}

/** The balance after the last row of this time: what was available, without the credit line. */
async function balanceAt(
  table: Table,
  account: AccountId,
  until: string,
  nowMillis: number,
): Promise<Micros> {
  const creditLine = async (): Promise<number> => {
    const item = await getItem(table, keys.account(account), 'creditLineMicros');
    return Number(item?.['creditLineMicros'] ?? 0);
  };
  const ledger = createLedgerReads(table);
  for (let attempt = 1; attempt <= tries; attempt += 1) {
    const before = await creditLine();
    const { rows } = await ledger.page(account, 1, nowMillis, { after: `LEDGER#${until}#~` });
    let since = 0;
    const days = { from: until.slice(0, 10), to: new Date(nowMillis).toISOString().slice(0, 10) };
    for await (const page of readLedgerRows(table, account, days))
      for (const { kind, at, amountMicros } of page)
        if (kind === 'credit_line' && at > until) since += amountMicros;
    if (before === (await creditLine()))
      return asMicros((rows[0]?.availableMicros ?? 0) - (rows.length === 0 ? 0 : before - since));
  }
  throw new Overloaded('the credit line kept changing');
}

async function monthBefore(
  table: Table,
  account: AccountId,
  { month, until, balance }: { readonly month: string; readonly until: string; readonly balance: Micros },
): Promise<Statement> {
  const models = { charge: new Map<string | null, Sum>(), refund: new Map<string | null, Sum>() };
  const others = new Map<LedgerKind, number>();
  const movements: LedgerRow[] = [];
  let [after, within] = [0, 0];
  for await (const page of readLedgerRows(table, account, { from: `${month}-01`, to: until.slice(0, 10) })) {
    const counted = page.filter(({ at, kind }) => at <= until && kind !== 'credit_line');
    const own = counted.filter(({ at }) => at.startsWith(month));
    for (const row of counted) if (!own.includes(row)) after += row.amountMicros;
    for (const row of await completed(table, own)) {
      within += row.amountMicros;
      if (row.kind === 'charge' || row.kind === 'refund') addTo(models[row.kind], row);
      else {
        others.set(row.kind, (others.get(row.kind) ?? 0) + row.amountMicros);
        if (movements.length < mostMovements) movements.push(row);
      }
    }
  }
  const closing = balance - after;
  return {
    until,
    openingMicros: asMicros(closing - within),
    closingMicros: asMicros(closing),
    charges: linesOf(models.charge),
    refunds: linesOf(models.refund),
    others: [...others].map(([kind, micros]) => ({ kind, micros: asMicros(micros) })),
    movements,
  };
}

interface Sum {
  count: number;
  micros: number;
}

function addTo(sums: Map<string | null, Sum>, { model: named, amountMicros }: LedgerRow): void {
  const model = named ?? null;
  const sum = sums.get(model) ?? { count: 0, micros: 0 };
  sum.count += 1;
  sum.micros += amountMicros;
  sums.set(model, sum);
}

/** The largest amount first. */
function linesOf(sums: ReadonlyMap<string | null, Sum>): StatementLine[] {
  return [...sums]
    .map(([model, { count, micros }]) => ({ model, count, micros: asMicros(micros) }))
    .sort((a, b) => Math.abs(b.micros) - Math.abs(a.micros));
}

export interface StatementLine {
  readonly model: string | null;
  readonly count: number;
  /** Negative for charges. */
  readonly micros: Micros;
}

/** What each kind of row moved. The opening balance and all of it are the closing balance. */
export interface Statement {
  /** Up to which time rows count, RFC 3339. */
  readonly until: string;
  readonly openingMicros: Micros;
  readonly closingMicros: Micros;
  readonly charges: readonly StatementLine[];
  readonly refunds: readonly StatementLine[];
  /** Top-ups, payments and adjustments. */
  readonly others: readonly { readonly kind: LedgerKind; readonly micros: Micros }[];
  /** The first of these rows, the oldest first. */
  readonly movements: readonly LedgerRow[];
}

/**
 * The statement of a month. The balance of a moment is that of now without the rows since then, so a month is read
 * from its first day on: the sums of the days that are over, and the rows of the others. Rows of the last five minutes
 * are left out, because others may still come in between them.
 */
import type { LedgerKind, LedgerRow } from '../accounts/account.ts';
import { getItem } from '../aws/dynamodb/send.ts';
import { keys, type Table } from '../aws/dynamodb/table.ts';
import { Overloaded } from '../values/errors.ts';
import type { AccountId } from '../values/ids.ts';
import { asMicros, type Micros } from '../values/money.ts';
import { dayAfter } from '../values/time.ts';
import { completed, readLedgerRows } from './booked-row-reads.ts';
import { lastDayOver, type Movement } from './day-sums.ts';
import { createLedgerReads, settledMillis } from './ledger-store.ts';
import { readSummedDays, type SummedDay } from './usage-store.ts';

const tries = 5;
const mostMovements = 500;

export function createStatementReads(table: Table) {
  return {
    /** Throws Overloaded when rows are written faster than they can be read, or the first sums take too long. */
    statement: async (
      account: AccountId,
      { month, since, nowMillis }: StatementQuery,
    ): Promise<Statement> => {
      const until = new Date(nowMillis - settledMillis).toISOString();
      const balance = await balanceAt(table, account, until, nowMillis);
      return monthBefore(table, account, { month, since, nowMillis, until, balance });
    },
  };
}

interface StatementQuery {
  /** "2026-11", in UTC. */
  readonly month: string;
  /** The first UTC day on which the account can have rows. */
  readonly since: string;
  readonly nowMillis: number;
}

interface Asked extends StatementQuery {
  readonly until: string;
  readonly balance: Micros;
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
    for await (const page of readLedgerRows(table, account, { after: until }))
      for (const { kind, at, amountMicros } of page)
        if (kind === 'credit_line' && at > until) since += amountMicros;
    if (before === (await creditLine()))
      return asMicros((rows[0]?.availableMicros ?? 0) - (rows.length === 0 ? 0 : before - since));
  }
  throw new Overloaded('the credit line kept changing');
}

/** What the rows of the month moved, and all rows after it. */
interface Moved {
  readonly charges: Map<string | null, Sum>;
  readonly refunds: Map<string | null, Sum>;
  readonly others: Map<LedgerKind, number>;
  readonly movements: Movement[];
  within: number;
  after: number;
}

async function monthBefore(table: Table, account: AccountId, asked: Asked): Promise<Statement> {
  const moved: Moved = {
    ...{ charges: new Map<string | null, Sum>(), refunds: new Map<string | null, Sum>() },
    ...{ others: new Map<LedgerKind, number>(), movements: [], within: 0, after: 0 },
  };
  const { month, since, until, nowMillis, balance } = asked;
  const first = `${month}-01` > since ? `${month}-01` : since;
  const over = lastDayOver(nowMillis);
  if (first <= over)
    for (const [day, sums] of await readSummedDays(table, account, { from: first, to: over }))
      for (const part of partsOf(sums)) add(moved, part, day.startsWith(month));
  const open = { from: first > over ? first : dayAfter(over), to: until.slice(0, 10) };
  for await (const page of readLedgerRows(table, account, open)) {
    const counted = page.filter(({ at, kind }) => at <= until && kind !== 'credit_line');
    for (const row of await completed(table, counted))
      add(moved, { row, model: row.model ?? null, count: 1 }, row.at.startsWith(month));
  }
  const closing = balance - moved.after;
  return {
    until,
    openingMicros: asMicros(closing - moved.within),
    closingMicros: asMicros(closing),
    charges: linesOf(moved.charges),
    refunds: linesOf(moved.refunds),
    others: [...moved.others].map(([kind, micros]) => ({ kind, micros: asMicros(micros) })),
    movements: moved.movements,
  };
}

/** A row, or as many charges or refunds of a model and what they moved together. */
interface Part {
  readonly row: Pick<LedgerRow, 'kind' | 'amountMicros'> & Partial<Movement>;
  readonly model: string | null;
  readonly count: number;
}

/** The refunds of a day are those of its own charges, and those of charges of other days. */
function* partsOf({ models, late, moves }: SummedDay): Generator<Part> {
  const of = (kind: LedgerKind, micros: number) => ({ kind, amountMicros: asMicros(micros) });
  for (const [model, { creations, failed, chargedMicros, refundedMicros }] of models) {
    yield { row: of('charge', 0 - chargedMicros), model, count: creations };
    yield { row: of('refund', refundedMicros), model, count: failed };
  }
  for (const { model, micros } of late) yield { row: of('refund', micros), model, count: 1 };
  for (const row of moves) yield { row, model: null, count: 1 };
}

function add(moved: Moved, { row, model, count }: Part, isWithin: boolean): void {
  const { kind, amountMicros, at } = row;
  if (!isWithin) {
    moved.after += amountMicros;
    return;
  }
  moved.within += amountMicros;
  if (kind === 'charge') addTo(moved.charges, model, count, amountMicros);
  else if (kind === 'refund') addTo(moved.refunds, model, count, amountMicros);
  else {
    moved.others.set(kind, (moved.others.get(kind) ?? 0) + amountMicros);
    if (at !== undefined && moved.movements.length < mostMovements) moved.movements.push({ ...row, at });
  }
}

interface Sum {
  count: number;
  micros: number;
}

function addTo(sums: Map<string | null, Sum>, model: string | null, count: number, micros: number): void {
  if (count === 0) return;
  const sum = sums.get(model) ?? { count: 0, micros: 0 };
  sum.count += count;
  sum.micros += micros;
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
  readonly movements: readonly Movement[];
}

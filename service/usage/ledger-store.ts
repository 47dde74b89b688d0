/**
 * The ledger with the balance after each row. A row and the balance are written by one transaction, and no row
 * is ever deleted. So the balance is exact when the same newest rows are read before and after it: then it has
 * exactly these rows, and older ones.
 */
import { ledgerRowFromItem } from '../accounts/account-items.ts';
import type { LedgerRow } from '../accounts/account.ts';
import { queryPages } from '../aws/dynamodb/query.ts';
import { getItem, queryPage, type QueryParts } from '../aws/dynamodb/send.ts';
import { type Item, keys, type Table } from '../aws/dynamodb/table.ts';
import { Overloaded } from '../values/errors.ts';
import type { AccountId } from '../values/ids.ts';
import { asMicros, type Micros } from '../values/money.ts';
import { completed, ledgerOfDays } from './booked-row-reads.ts';

/** A transaction can commit this long after the time of its row, and come in below rows that were read. */
export const settledMillis = 5 * 60_000;
const tries = 10;
/** The most pages of a query in one part of an export: of usual rows, as many as an answer can hold. */
const pagesOfPart = 4;

export function createLedgerReads(table: Table) {
  return {
    /** Throws Overloaded when rows are written faster than they can be read. */
    page: (
      account: AccountId,
      limit: number,
      nowMillis: number,
      from?: LedgerPosition,
    ): Promise<LedgerPage> => pageOf(table, { account, limit, nowMillis, from }),
    /** @param month "2026-11", in UTC */
    part: (account: AccountId, month: string, after?: string): Promise<LedgerPart> =>
      partOf(table, account, month, after),
  };
}

interface Wanted {
  readonly account: AccountId;
  readonly limit: number;
  readonly nowMillis: number;
  readonly from: LedgerPosition | undefined;
}

async function pageOf(table: Table, wanted: Wanted): Promise<LedgerPage> {
  const { account, limit, nowMillis, from } = wanted;
  const [items, availableMicros] =
    from?.availableMicros === undefined
      ? await balanced(table, account, limit, from?.after)
      : [await rowsBehind(table, account, limit + 1, from.after), from.availableMicros];
  const shown = items.slice(0, limit);
  const rows = await completed(table, shown.map(ledgerRowFromItem));
  let available: number = availableMicros;
  const found = rows.map((row): BalancedRow => {
    const after = asMicros(available);
    available -= row.amountMicros;
    return { row, availableMicros: after };
  });
  const last = shown.at(-1);
  if (items.length <= limit || !last) return { rows: found };
  const isSettled = Date.parse(String(last['at'])) < nowMillis - settledMillis;
  const next = { after: String(last['sk']), ...(isSettled && { availableMicros: asMicros(available) }) };
  return { rows: found, next };
}

/** The rows after a position, and what the account could spend after the first of them. */
async function balanced(
  table: Table,
  account: AccountId,
  limit: number,
  after: string | undefined,
): Promise<[readonly Item[], Micros]> {
  let before = await newestRows(table, account, limit, after);
  for (let attempt = 1; attempt <= tries; attempt += 1) {
    const item = await getItem(table, keys.account(account), 'availableMicros');
    const again = await newestRows(table, account, limit, after);
    if (isSame(before, again)) {
      const above = after === undefined ? [] : again.filter(({ sk }) => String(sk) >= after);
      const sumAbove = above.reduce((sum, row) => sum + Number(row['amountMicros']), 0);
      const available = asMicros(Number(item?.['availableMicros']) - sumAbove);
      return [again.slice(above.length), available];
    }
    before = again;
  }
  throw new Overloaded('rows are written faster than they are read');
}

/** Rows are only added, so two reads are the same when they have as many rows and the same last one. */
function isSame(one: readonly Item[], other: readonly Item[]): boolean {
  return one.length === other.length && one.every(({ sk }, place) => sk === other[place]?.['sk']);
}

async function newestRows(
  table: Table,
  account: AccountId,
  limit: number,
  after: string | undefined,
): Promise<readonly Item[]> {
  const above = after === undefined ? [] : await collect(table, rowsFrom(account, after));
  return [...above, ...(await rowsBehind(table, account, limit + 1, after))];
}

async function rowsBehind(
  table: Table,
  account: AccountId,
  count: number,
  after: string | undefined,
): Promise<readonly Item[]> {
  const parts = newestFirst(account, 'LEDGER#', 'LEDGER#~');
  // The row at the position is left out. It always exists, because rows are never deleted.
  return collect(table, parts, count, after);
}

/** The last of these rows is the one at which the page begins. */
function rowsFrom(account: AccountId, from: string): QueryParts {
  return newestFirst(account, from, 'LEDGER#~');
}

function newestFirst(account: AccountId, from: string, to: string): QueryParts {
  return {
    KeyConditionExpression: 'pk = :pk',
    ExpressionAttributeValues: { ':pk': keys.account(account).pk },
    range: { sort: 'sk', from, to },
    ScanIndexForward: false,
  };
}

async function collect(
  table: Table,
  parts: QueryParts,
  count = Infinity,
  after?: string,
): Promise<readonly Item[]> {
  const start = parts.ExpressionAttributeValues?.[':pk'] as string;
  const items: Item[] = [];
  const from = after === undefined ? {} : { ExclusiveStartKey: { pk: start, sk: after } };
  for await (const page of queryPages(table, { ...parts, ...from }, count)) items.push(...(page.Items ?? []));
  return items;
}

async function partOf(
  table: Table,
  account: AccountId,
  month: string,
  after: string | undefined,
): Promise<LedgerPart> {
  const { pk } = keys.account(account);
  const days = { from: `${month}-01`, to: lastDayOf(month) };
  const rows: Item[] = [];
  let from: Item | undefined = after === undefined ? undefined : { pk, sk: after };
  for (let page = 0; page < pagesOfPart; page += 1) {
    const found = await queryPage(table, {
      ...ledgerOfDays(account, days),
      ...(from && { ExclusiveStartKey: from }),
    });
    rows.push(...(found.Items ?? []));
    from = found.LastEvaluatedKey;
    if (!from) break;
  }
  const read = await completed(table, rows.map(ledgerRowFromItem));
  return {
    rows: read.map((row, place) => ({ row, key: String(rows[place]?.['sk']) })),
    ...(from && { next: String(from['sk']) }),
  };
}

function lastDayOf(month: string): string {
  const [year = 0, number = 1] = month.split('-').map(Number);
  return new Date(Date.UTC(year, number, 0)).toISOString().slice(0, 10);
}

// The ledger of an account as people read it: the newest first with the balance, or a month at a time.

export interface BalancedRow {
  readonly row: LedgerRow;
  readonly availableMicros: Micros;
}

/** Where the next page begins. It is a cursor of the API, so a release must understand those of the one before. */
export interface LedgerPosition {
  readonly after: string;
  /** What the account could spend before that row. Absent while rows may still come in below it. */
  readonly availableMicros?: Micros;
}

interface LedgerPage {
  /** The newest first. */
  readonly rows: readonly BalancedRow[];
  /** Absent on the last page. */
  readonly next?: LedgerPosition;
}

export interface LedgerPart {
  readonly rows: readonly {
    readonly row: LedgerRow;
    /** Its sort key, after which a shorter part could end. */
    readonly key: string;
  }[];
  /** The sort key after which the next part begins. Absent after the last part. */
  readonly next?: string;
}

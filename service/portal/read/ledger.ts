/** The ledger of an account, as pages and as CSV. */
import type { LedgerRow } from '../../accounts/account.ts';
import { mostPageBytes } from '../../contract/limits.ts';
import type { LedgerPage, LedgerView } from '../../contract/portal-views.ts';
import { isDay } from '../../usage/booked-row.ts';
import type { BalancedRow, LedgerPart, LedgerPosition } from '../../usage/ledger-store.ts';
import { type Cell, csvLine } from '../../values/csv.ts';
import type { KeyId } from '../../values/ids.ts';
import { asMicros, toUsd } from '../../values/money.ts';
import type { PortalAnswer } from '../http/caller.ts';
import type { ReadHandle, TabHandle } from './open.ts';
import {
  cursorWords,
  fromCursor,
  monthIn,
  parametersOf,
  toCursor,
  wrong,
} from '../../operated/parameters.ts';

const rowKey = /^LEDGER#\d{4}-\d\d-\d\dT[\d:.]+Z#[a-z_]+#[\w-]+$/;

/** GET /ledger: the newest first, with the balance after each row; ?limit and ?cursor. */
export const listLedger: TabHandle<'listLedger'> = async (
  request,
  { account, nowMillis },
  { ledger, reads },
) => {
  const parameters = parametersOf(request);
  const from = parameters.read('cursor', positionIn, cursorWords);
  const limit = parameters.limit();
  parameters.check();
  const [page, keys] = await Promise.all([
    ledger.page(account.id, limit, nowMillis, from),
    reads.keys(account.id),
  ]);
  const keyNames = new Map(keys.map(({ id, name }) => [id, name]));
  const { availableMicros, creditLineMicros } = account;
  const body: LedgerPage = {
    data: page.rows.map((one) => rowView(one, keyNames)),
    next_cursor: page.next === undefined ? null : toCursor(page.next),
    available: toUsd(availableMicros),
    balance: toUsd(asMicros(availableMicros - creditLineMicros)),
    credit_line: toUsd(creditLineMicros),
    months: monthsSince(account.createdAt, nowMillis),
  };
  return { status: 200, body };
};

function positionIn(text: string): LedgerPosition | undefined {
  const { after, availableMicros } = Object(fromCursor(text)) as Record<keyof LedgerPosition, unknown>;
  if (typeof after !== 'string' || !rowKey.test(after)) return undefined;
  if (availableMicros === undefined) return { after };
  return Number.isSafeInteger(availableMicros)
    ? { after, availableMicros: asMicros(Number(availableMicros)) }
    : undefined;
}

function rowView({ row, availableMicros }: BalancedRow, keyNames: ReadonlyMap<KeyId, string>): LedgerView {
  return {
    at: row.at,
    kind: row.kind,
    amount: toUsd(row.amountMicros),
    available: toUsd(availableMicros),
    creation: row.creationId ?? null,
    key: row.keyId ?? null,
    key_name: (row.keyId && keyNames.get(row.keyId)) ?? null,
    model: row.model ?? null,
    user: row.user ?? null,
    note: noteOf(row),
  };
}

/** The operator's text. The reason of a refund is a word of the service, and is in the creation. */
export function noteOf({
  kind,
  reference,
  reason,
}: Pick<BalancedRow['row'], 'kind' | 'reference' | 'reason'>): string | null {
  return kind === 'refund' ? null : (reason ?? reference ?? null);
}

export function monthsSince(createdAt: string, nowMillis: number): string[] {
  const first = createdAt.slice(0, 7);
  const months: string[] = [];
  const now = new Date(nowMillis);
  for (let back = 0; ; back += 1) {
    const begin = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - back, 1);
    const month = new Date(begin).toISOString().slice(0, 7);
    if (month < first) return months;
    months.push(month);
  }
}

/** A file. Throws 400 when it is larger than an answer of Lambda can be, in which each quote takes two bytes. */
export function csvAnswer(
  lines: readonly string[],
  name: string,
  headers: Readonly<Record<string, string>> = {},
): PortalAnswer<null> {
  const text = lines.map((line) => `${line}\r\n`).join('');
  if (Buffer.byteLength(JSON.stringify(text)) > mostPageBytes)
    throw wrong('from', 'The file would be too large: ask for fewer days.');
  return {
    status: 200,
    headers: {
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': `attachment; filename="darkroom-${name}"`,
      'x-content-type-options': 'nosniff',
      ...headers,
    },
    body: null,
    text,
  };
}

/** Below the limit of an answer, with room for the header. */
const mostPartBytes = mostPageBytes - 100_000;
const header = ['at', 'kind', 'amount', 'creation', 'key', 'model', 'user', 'note'] as const;

/** GET /ledger.csv: a month in parts, the oldest row first. The header x-next-cursor names the next part. */
export const exportLedger: ReadHandle<'exportLedger'> = async (
  request,
  { account, nowMillis },
  { ledger },
) => {
  const parameters = parametersOf(request);
  const month =
    parameters.read('month', monthIn, 'must be a UTC month, such as 2026-11') ??
    new Date(nowMillis).toISOString().slice(0, 7);
  const after = parameters.read('cursor', keyIn, cursorWords);
  parameters.check();
  if (after !== undefined && !isInMonth(after, month)) throw wrong('cursor', cursorWords);
  const part = await ledger.part(account.id, month, after);
  const { lines, next } = withinBytes(part);
  return csvAnswer(
    after === undefined ? [csvLine(header), ...lines] : lines,
    `ledger-${month}.csv`,
    next === undefined ? {} : { 'x-next-cursor': toHeaderCursor(next) },
  );
};

/** As many rows as an answer may hold, and at least one. Texts full of quotes grow fourfold on their way. */
function withinBytes({ rows, next }: LedgerPart): { readonly lines: string[]; readonly next?: string } {
  const lines: string[] = [];
  let bytes = 0;
  for (const [place, { row }] of rows.entries()) {
    const line = csvLine(cellsOf(row));
    bytes += Buffer.byteLength(JSON.stringify(line)) + 4;
    if (bytes > mostPartBytes && place > 0) return { lines, next: rows[place - 1]?.key ?? '' };
    lines.push(line);
  }
  return { lines, ...(next !== undefined && { next }) };
}

function cellsOf(row: LedgerRow): Cell[] {
  return [
    row.at,
    row.kind,
    { usd: row.amountMicros },
    row.creationId ?? null,
    row.keyId ?? null,
    row.model ?? null,
    row.user ?? null,
    noteOf(row),
  ];
}

/** A day that does not exist, such as 00, can lie outside the range of the query, and DynamoDB refuses that. */
function isInMonth(key: string, month: string): boolean {
  const day = key.slice('LEDGER#'.length, 'LEDGER#2026-11-21'.length);
  return isDay(day) && day.startsWith(month);
}

function keyIn(text: string): string | undefined {
  const key = Buffer.from(text, 'base64url').toString('latin1');
  return rowKey.test(key) ? key : undefined;
}

function toHeaderCursor(key: string): string {
  return Buffer.from(key, 'latin1').toString('base64url');
}

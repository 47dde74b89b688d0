import { isDay } from '../../../core/booked-row.ts';
import { csvLine, type Cell } from '../../../core/csv.ts';
import type { LedgerRow } from '../../../core/ledger.ts';
import { mostPageBytes } from '../../../core/limits.ts';
import type { LedgerPart } from '../../../core/ports/ledger.ts';
import type { ReadServices } from '../../services/portal-read.ts';
import type { PortalHandle } from '../http/caller.ts';
import { csvAnswer } from './csv-answer.ts';
import { noteOf, rowKey } from './list-ledger.ts';
import { cursorWords, monthIn, parametersOf, wrong } from './parameters.ts';

/** Below the limit of an answer, with room for the header. */
const mostPartBytes = mostPageBytes - 100_000;
const header = ['at', 'kind', 'amount', 'creation', 'key', 'model', 'user', 'note'] as const;

/**
 * GET /ledger.csv: a month, the oldest row first; ?month and ?cursor. A long month comes in parts, and the header
 * x-next-cursor leads to the next one. The amounts of all months add up to what the account can spend.
 */
export const exportLedger: PortalHandle<'exportLedger', ReadServices> = async (
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

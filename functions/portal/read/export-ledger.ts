import { csvLine, type Cell } from '../../../core/csv.ts';
import type { LedgerRow } from '../../../core/ledger.ts';
import type { ReadServices } from '../../services/portal-read.ts';
import type { PortalHandle } from '../http/caller.ts';
import { csvAnswer } from './csv-answer.ts';
import { noteOf, rowKey } from './list-ledger.ts';
import { cursorWords, monthIn, parametersOf, wrong } from './parameters.ts';

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
  if (after !== undefined && !after.startsWith(`LEDGER#${month}-`)) throw wrong('cursor', cursorWords);
  const part = await ledger.part(account.id, month, after);
  const lines: (readonly Cell[])[] = [...(after === undefined ? [header] : []), ...part.rows.map(cellsOf)];
  const next = part.next === undefined ? {} : { 'x-next-cursor': toCursor(part.next) };
  return csvAnswer(lines.map(csvLine), `ledger-${month}.csv`, next);
};

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

function keyIn(text: string): string | undefined {
  const key = Buffer.from(text, 'base64url').toString('latin1');
  return rowKey.test(key) ? key : undefined;
}

function toCursor(key: string): string {
  return Buffer.from(key, 'latin1').toString('base64url');
}

/**
 * The charges and refunds of an account with their creations, for the sums of usage and margin. All reads are
 * consistent, but they are not one snapshot: a creation can end between the read of its charge and its own.
 */
import { type BookedCreation, type BookedRow, type Days } from '../../core/booked-row.ts';
import type { AccountId, CreationId } from '../../core/ids.ts';
import type { LedgerRow } from '../../core/ledger.ts';
import { batchGetAtOnce } from './batch-get.ts';
import { readLedgerRows } from './ledger-days.ts';
import { keys, type Table } from './table.ts';

/** Maximum number of rows, with their creations, in memory at once. */
const rowsAtOnce = 400;
/** Without the prompt, the metadata and the body of the webhook, which can be long. */
const attributes = [
  'id',
  'status',
  'model',
  'attempts',
  'refundedMicros',
] as const satisfies readonly (keyof BookedCreation)[];

/**
 * The rows of these days, the oldest first, some hundred at once. The memory that this takes does not grow with
 * the ledger.
 */
export async function* readBookedRows(
  table: Table,
  accountId: AccountId,
  days: Days,
): AsyncGenerator<readonly BookedRow[]> {
  for await (const page of readLedgerRows(table, accountId, days)) {
    const rows = page.filter(isChargeOrRefund);
    for (let start = 0; start < rows.length; start += rowsAtOnce)
      yield await withCreations(table, rows.slice(start, start + rowsAtOnce));
  }
}

function isChargeOrRefund({ kind }: LedgerRow): boolean {
  return kind === 'charge' || kind === 'refund';
}

async function withCreations(table: Table, rows: readonly LedgerRow[]): Promise<BookedRow[]> {
  const ids = [...new Set(rows.flatMap(({ creationId }) => creationId ?? []))];
  const found = await batchGetAtOnce(table, ids.map(keys.creation), attributes);
  const creations = new Map<CreationId | undefined, BookedCreation>(
    (found as unknown as BookedCreation[]).map((creation) => [creation.id, creation]),
  );
  return rows.map((row) => {
    const creation = creations.get(row.creationId);
    return { row, ...(creation && { creation }) };
  });
}

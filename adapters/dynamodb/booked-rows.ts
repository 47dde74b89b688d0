/**
 * The charges and refunds of an account with their creations, for the sums of usage and margin. All reads are
 * consistent, but they are not one snapshot: a creation can end between the read of its charge and its own.
 */
import { dayAfter, type BookedCreation, type BookedRow, type Days } from '../../core/booked-row.ts';
import type { AccountId, CreationId } from '../../core/ids.ts';
import type { LedgerRow } from '../../core/ledger.ts';
import { batchGet } from './batch-get.ts';
import { ledgerRowFromItem } from './mapping.ts';
import { queryPages } from './query.ts';
import { keys, type Table } from './table.ts';

/** BatchGetItem takes at most this many keys. */
const readAtOnce = 100;
/** So many reads of creations wait for the table at the same time. */
const readsAtOnce = 4;
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
  { from, to }: Days,
): AsyncGenerator<readonly BookedRow[]> {
  const query = {
    // Times follow "LEDGER#". No time is only a day, so the day after `to` is not included.
    KeyConditionExpression: 'pk = :pk AND sk BETWEEN :from AND :behind',
    ExpressionAttributeValues: {
      ':pk': keys.account(accountId).pk,
      ':from': `LEDGER#${from}`,
      ':behind': `LEDGER#${dayAfter(to)}`,
    },
  };
  for await (const page of queryPages(table, query)) {
    const rows = (page.Items ?? []).map(ledgerRowFromItem).filter(isChargeOrRefund);
    for (let start = 0; start < rows.length; start += readAtOnce * readsAtOnce)
      yield await withCreations(table, rows.slice(start, start + readAtOnce * readsAtOnce));
  }
}

function isChargeOrRefund({ kind }: LedgerRow): boolean {
  return kind === 'charge' || kind === 'refund';
}

async function withCreations(table: Table, rows: readonly LedgerRow[]): Promise<BookedRow[]> {
  const ids = [...new Set(rows.flatMap(({ creationId }) => creationId ?? []))];
  const parts = Array.from({ length: Math.ceil(ids.length / readAtOnce) }, (_, part) =>
    ids.slice(part * readAtOnce, (part + 1) * readAtOnce).map(keys.creation),
  );
  const found = await Promise.all(parts.map(async (part) => batchGet(table, part, attributes)));
  const creations = new Map<CreationId | undefined, BookedCreation>(
    (found.flat() as unknown as BookedCreation[]).map((creation) => [creation.id, creation]),
  );
  return rows.map((row) => {
    const creation = creations.get(row.creationId);
    return { row, ...(creation && { creation }) };
  });
}

/** Charges and refunds of the ledger with all that usage needs. Rows of older releases lack a part of it. */
import type { Days } from '../../../core/booked-row.ts';
import type { AccountId, CreationId } from '../../../core/ids.ts';
import type { LedgerRow } from '../../../core/ledger.ts';
import type { UsedRow } from '../../../core/portal/day-sums.ts';
import { batchGetAtOnce } from '../batch-get.ts';
import { ledgerOfDays } from '../ledger-days.ts';
import { ledgerRowFromItem } from '../mapping.ts';
import { queryPages } from '../query.ts';
import { keys, type Item, type Table } from '../table.ts';

/** Without what usage does not need: a long projection takes longer to read than the table takes to send. */
const read = ['kind', 'amountMicros', 'at', 'creationId', 'keyId', 'model', 'user', 'chargedOn'] as const;

/** The rows of these days, the oldest first, page by page. */
export async function* readUsedRows(
  table: Table,
  accountId: AccountId,
  days: Days,
): AsyncGenerator<readonly UsedRow[]> {
  const query = {
    ...ledgerOfDays(accountId, days),
    ProjectionExpression: read.map((_, place) => `#a${place}`).join(', '),
    ExpressionAttributeNames: Object.fromEntries(read.map((name, place) => [`#a${place}`, name])),
  };
  for await (const page of queryPages(table, query)) {
    const rows = (page.Items ?? []).map(ledgerRowFromItem);
    yield (await completed(table, rows)).flatMap(usedRow);
  }
}

function usedRow({ kind, at, amountMicros, keyId, model, user, chargedOn }: LedgerRow): UsedRow[] {
  if (kind !== 'charge' && kind !== 'refund') return [];
  const day = at.slice(0, 10);
  return [
    {
      kind,
      day,
      chargedOn: kind === 'charge' ? day : (chargedOn ?? day),
      micros: Math.abs(amountMicros),
      key: keyId ?? null,
      model: model ?? null,
      user: user ?? null,
    },
  ];
}

/** The rows with their models and the days of their charges. Only rows of older releases cost reads. */
export async function completed(table: Table, rows: readonly LedgerRow[]): Promise<readonly LedgerRow[]> {
  const ids = [...new Set(rows.filter(lacks).flatMap(({ creationId }) => creationId ?? []))];
  if (ids.length === 0) return rows;
  const found = await batchGetAtOnce(table, ids.map(keys.creation), ['id', 'model', 'createdAt']);
  const creations = new Map<CreationId | undefined, Item>(
    found.map((creation) => [creation['id'] as CreationId, creation]),
  );
  return rows.map((row) => {
    const creation = lacks(row) ? creations.get(row.creationId) : undefined;
    if (!creation) return row;
    return {
      ...row,
      model: String(creation['model']),
      ...(row.kind === 'refund' && { chargedOn: String(creation['createdAt']).slice(0, 10) }),
    };
  });
}

function lacks({ kind, model }: LedgerRow): boolean {
  return (kind === 'charge' || kind === 'refund') && model === undefined;
}

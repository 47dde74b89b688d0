/** Charges and refunds of the ledger with all that usage needs. Rows of older releases lack a part of it. */
import { ledgerRowFromItem } from '../accounts/account-items.ts';
import type { LedgerKind, LedgerRow } from '../accounts/account.ts';
import { batchGetAtOnce } from '../aws/dynamodb/batch-get.ts';
import { queryPages } from '../aws/dynamodb/query.ts';
import type { QueryParts } from '../aws/dynamodb/send.ts';
import { type Item, keys, type Table } from '../aws/dynamodb/table.ts';
import type { AccountId, CreationId } from '../values/ids.ts';
import { dayAfter } from '../values/time.ts';
import type { BookedCreation, BookedRow, Days } from './booked-row.ts';
import type { MovedRow, UsedRow } from './day-sums.ts';

export function ledgerOfDays(account: AccountId, days: Days | { readonly after: string }): QueryParts {
  const [from, end] = 'after' in days ? [days.after, '~'] : [days.from, dayAfter(days.to)];
  return {
    KeyConditionExpression: 'pk = :pk',
    ExpressionAttributeValues: { ':pk': keys.account(account).pk },
    // Keys are "LEDGER#" and a time. No time is only a day, so the day after `to` is not included.
    range: { sort: 'sk', from: `LEDGER#${from}`, to: `LEDGER#${end}` },
  };
}

/** @param days or a time: all rows from there on */
export async function* readLedgerRows(
  table: Table,
  account: AccountId,
  days: Days | { readonly after: string },
): AsyncGenerator<readonly LedgerRow[]> {
  for await (const page of queryPages(table, ledgerOfDays(account, days)))
    yield (page.Items ?? []).map(ledgerRowFromItem);
}

/** Without what usage does not need: a long projection takes longer to read than the table takes to send. */
const read = [
  ...(['kind', 'amountMicros', 'at', 'creationId', 'keyId', 'model', 'user', 'chargedOn'] as const),
  ...(['reference', 'reason'] as const),
];

export async function* readUsedRows(
  table: Table,
  accountId: AccountId,
  days: Days,
): AsyncGenerator<readonly (UsedRow | MovedRow)[]> {
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

function usedRow(row: LedgerRow): (UsedRow | MovedRow)[] {
  const { kind, at, amountMicros, keyId, model, user, chargedOn, reference, reason } = row;
  const day = at.slice(0, 10);
  if (kind === 'credit_line') return [];
  if (kind !== 'charge' && kind !== 'refund') {
    const text = { ...(reference !== undefined && { reference }), ...(reason !== undefined && { reason }) };
    return [{ kind: 'moved', day, movement: { kind, at, amountMicros, ...text } }];
  }
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

// The rows of an account with their creations, for the sums of usage, margin and money. All reads are
// consistent, but they are not one snapshot: a creation can end between the read of its charge and its own.

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
 * The charges and refunds of these days, the oldest first, some hundred at once, in constant memory.
 * @param more the other kinds of rows that the caller counts
 */
export async function* readBookedRows(
  table: Table,
  accountId: AccountId,
  days: Days,
  more: readonly LedgerKind[] = [],
): AsyncGenerator<readonly BookedRow[]> {
  const wanted: readonly LedgerKind[] = ['charge', 'refund', ...more];
  for await (const page of readLedgerRows(table, accountId, days)) {
    const rows = page.filter(({ kind }) => wanted.includes(kind));
    for (let start = 0; start < rows.length; start += rowsAtOnce)
      yield await withCreations(table, rows.slice(start, start + rowsAtOnce));
  }
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

import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import { isTerminal, type CreationRecord } from '../../core/creation.ts';
import type { AccountId, CreationId } from '../../core/ids.ts';
import type { AccountBooks } from '../../core/ledger.ts';
import { createAccountStore } from './account-store.ts';
import { createWalletStore } from './wallet-store.ts';
import { batchGet } from './batch-get.ts';
import { creationFromItem } from './mapping.ts';
import { openShards, openWorkIndex, type Item, type Table } from './table.ts';

/** The books of every account, or of one. Reads only; take it at rest, or expect movements between the reads. */
export async function readBooks(table: Table, only?: AccountId): Promise<AccountBooks[]> {
  const accounts = createAccountStore(table);
  const wallet = createWalletStore(table);
  const open = await openCreationsByAccount(table);
  const books: AccountBooks[] = [];
  for (const account of await accounts.list()) {
    if (only !== undefined && account.id !== only) continue;
    books.push({
      accountId: account.id,
      availableMicros: account.availableMicros,
      creditLineMicros: account.creditLineMicros,
      inFlight: account.inFlight,
      openCreations: open.get(account.id) ?? 0,
      keys: await accounts.listKeys(account.id),
      ledger: await wallet.ledger(account.id),
    });
  }
  return books;
}

async function openCreationsByAccount(table: Table): Promise<Map<AccountId, number>> {
  const open = new Map<CreationId, AccountId>();
  for (const shard of openShards('OPEN')) {
    let from: Item | undefined;
    do {
      const page = await table.client.send(
        new QueryCommand({
          TableName: table.name,
          IndexName: openWorkIndex.name,
          KeyConditionExpression: `${openWorkIndex.partition} = :shard`,
          ExpressionAttributeValues: { ':shard': shard },
          Limit: 100,
          ...(from && { ExclusiveStartKey: from }),
        }),
      );
      // By its id: one whose due time moves between two pages is met twice.
      for (const { id, accountId, status } of await readAll(table, page.Items ?? [])) {
        if (!isTerminal(status)) open.set(id, accountId);
      }
      from = page.LastEvaluatedKey;
    } while (from);
  }
  const counts = new Map<AccountId, number>();
  for (const accountId of open.values()) counts.set(accountId, (counts.get(accountId) ?? 0) + 1);
  return counts;
}

/** An index may lag: what counts is the item itself. */
async function readAll(table: Table, items: readonly Item[]): Promise<CreationRecord[]> {
  if (items.length === 0) return [];
  const found = await batchGet(table, items.map(({ pk, sk }) => ({ pk: String(pk), sk: String(sk) })));
  return found.map(creationFromItem);
}

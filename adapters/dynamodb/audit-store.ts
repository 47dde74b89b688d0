import type { Account } from '../../core/account.ts';
import type { AccountId, CreationId } from '../../core/ids.ts';
import type { AccountBooks, AuditedCreation, LedgerRow } from '../../core/ledger.ts';
import { createAccountStore, type AccountStore } from './account-store.ts';
import { createWalletStore, type WalletStore } from './wallet-store.ts';
import { batchGet } from './batch-get.ts';
import { creationFromItem, listedIdOf, userCounterFromItem } from './mapping.ts';
import { queryAll, queryPages } from './query.ts';
import { keys, listingIndex, type Item, type Table } from './table.ts';

/** BatchGetItem takes at most this many keys. */
const readAtOnce = 100;

/**
 * The books of every account, or of one account. Nothing is written. The reads are not one snapshot, so that
 * a movement between two of them looks like a difference.
 */
export async function readBooks(table: Table, only?: AccountId): Promise<AccountBooks[]> {
  const stores = { accounts: createAccountStore(table), wallet: createWalletStore(table) };
  const books: AccountBooks[] = [];
  for (const account of await accountsOf(stores.accounts, only))
    books.push(await booksOf(table, account, stores));
  return books;
}

async function accountsOf(accounts: AccountStore, only: AccountId | undefined): Promise<readonly Account[]> {
  if (only === undefined) return accounts.list();
  const account = await accounts.read(only);
  return account ? [account] : [];
}

async function booksOf(
  table: Table,
  account: Account,
  stores: { accounts: AccountStore; wallet: WalletStore },
): Promise<AccountBooks> {
  const ledger = await stores.wallet.ledger(account.id);
  return {
    accountId: account.id,
    availableMicros: account.availableMicros,
    creditLineMicros: account.creditLineMicros,
    inFlight: account.inFlight,
    keys: await stores.accounts.listKeys(account.id),
    userCounters: (await queryAll(table, keys.account(account.id).pk, 'USER#')).map(userCounterFromItem),
    readAt: table.clock.now(),
    ledger,
    creations: await creationsOf(table, account.id, ledger),
  };
}

/** The listed creations and the creations in the ledger: each list shows what the other one misses. */
async function creationsOf(
  table: Table,
  accountId: AccountId,
  ledger: readonly LedgerRow[],
): Promise<AuditedCreation[]> {
  const named = ledger.flatMap(({ creationId }) => creationId ?? []);
  const ids = [...new Set([...named, ...(await listedIds(table, accountId))])];
  const creations: AuditedCreation[] = [];
  for (let from = 0; from < ids.length; from += readAtOnce) {
    const found = await batchGet(
      table,
      ids.slice(from, from + readAtOnce).map((id) => keys.creation(id)),
    );
    creations.push(...found.map(auditedFromItem));
  }
  return creations;
}

/** Leaves out prompts and results, because all creations of an account are in memory at once. */
function auditedFromItem(item: Item): AuditedCreation {
  const { id, status, costMicros, refundedMicros, dueAt } = creationFromItem(item);
  return { id, status, costMicros, refundedMicros, ...(dueAt !== undefined && { dueAt }) };
}

async function listedIds(table: Table, accountId: AccountId): Promise<CreationId[]> {
  const list = {
    IndexName: listingIndex.name,
    KeyConditionExpression: `${listingIndex.partition} = :list`,
    ExpressionAttributeValues: { ':list': `CREATIONS#${accountId}` },
  };
  const ids: CreationId[] = [];
  for await (const page of queryPages(table, list)) ids.push(...(page.Items ?? []).map(listedIdOf));
  return ids;
}

import type { Account } from '../../core/account.ts';
import type { AccountId, CreationId } from '../../core/ids.ts';
import type { AccountBooks, AuditedCreation, LedgerRow } from '../../core/ledger.ts';
import { createAccountStore, type AccountStore } from './account-store.ts';
import { createWalletStore, type WalletStore } from './wallet-store.ts';
import { batchGet } from './batch-get.ts';
import { creationFromItem } from './mapping.ts';
import { queryPage } from './send.ts';
import { keys, listingIndex, type Item, type Table } from './table.ts';

/** BatchGetItem takes so many keys. */
const readAtOnce = 100;

/** The books of every account, or of one. Reads only, in no single instant: what moves between two reads looks like a difference. */
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
    ledger,
    creations: await creationsOf(table, account.id, ledger),
  };
}

/** Those that are listed and those that the ledger names: neither alone would show that the other misses one. */
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

/** Without prompts and results, since all of an account's creations are held at once. */
function auditedFromItem(item: Item): AuditedCreation {
  const { id, status, costMicros, refundedMicros, dueAt } = creationFromItem(item);
  return { id, status, costMicros, refundedMicros, ...(dueAt !== undefined && { dueAt }) };
}

async function listedIds(table: Table, accountId: AccountId): Promise<CreationId[]> {
  const ids: CreationId[] = [];
  let from: Item | undefined;
  do {
    const page = await queryPage(table, {
      IndexName: listingIndex.name,
      KeyConditionExpression: `${listingIndex.partition} = :list`,
      ExpressionAttributeValues: { ':list': `CREATIONS#${accountId}` },
      ...(from && { ExclusiveStartKey: from }),
    });
    ids.push(...(page.Items ?? []).map((item: Item) => String(item['listed']) as CreationId));
    from = page.LastEvaluatedKey;
  } while (from);
  return ids;
}

/** Accounts and keys as an operator handles them. */
import type { Account, ApiKey, SealedSecret } from '../../core/account.ts';
import type { AccountId, KeyId } from '../../core/ids.ts';
import { putNew, updateIf } from './conditional.ts';
import { accountFromItem, accountToItem, apiKeyFromItem, apiKeyToItem } from './mapping.ts';
import { queryAll } from './query.ts';
import { getItem, queryPage, updateItem } from './send.ts';
import { keys, listingIndex, type Item, type ItemKey, type Table } from './table.ts';

export interface AccountChange {
  readonly condition?: Account['condition'];
  readonly postRate?: number;
  readonly getRate?: number;
  readonly maxConcurrent?: number;
  readonly deadlineSeconds?: number;
  readonly providers?: 'all' | readonly string[];
  readonly hiddenModels?: readonly string[];
}

export interface AccountStore {
  /** False when the id is taken. */
  create(account: Account): Promise<boolean>;
  read(id: AccountId): Promise<Account | undefined>;
  /** Oldest first. */
  list(): Promise<Account[]>;
  change(id: AccountId, change: AccountChange): Promise<void>;
  /** Stores a new list of secrets, unless the current one is no longer the given one. */
  replaceSecrets(id: AccountId, current: SealedSecret | undefined, next: readonly SealedSecret[]): Promise<boolean>;
  /** False when the id is taken. */
  createKey(key: ApiKey): Promise<boolean>;
  listKeys(id: AccountId): Promise<ApiKey[]>;
  /** False when there is no such key. Revoking twice keeps the first time. */
  revokeKey(id: AccountId, key: KeyId, at: string): Promise<boolean>;
}

export function createAccountStore(table: Table): AccountStore {
  return {
    create: (account) => putNew(table, accountToItem(account)),
    read: async (id) => {
      const item = await getItem(table, keys.account(id));
      return item && accountFromItem(item);
    },
    list: () => listAccounts(table),
    change: async (id, change) => {
      await updateItem(table, keys.account(id), changeOf(change));
    },
    replaceSecrets: (id, current, next) =>
      updateIf(table, keys.account(id), {
        UpdateExpression: 'SET webhookSecrets = :next',
        ConditionExpression: current ? 'webhookSecrets[0].sealed = :current' : 'attribute_not_exists(webhookSecrets[0])',
        ExpressionAttributeValues: { ':next': next, ...(current && { ':current': current.sealed }) },
      }),
    createKey: (key) => putNew(table, apiKeyToItem(key)),
    listKeys: async (id) => (await queryAll(table, keys.account(id).pk, 'KEY#')).map(apiKeyFromItem),
    revokeKey: (id, key, at) =>
      updateIf(table, keys.apiKey(id, key), {
        UpdateExpression: 'SET revokedAt = if_not_exists(revokedAt, :at)',
        ConditionExpression: 'attribute_exists(pk)',
        ExpressionAttributeValues: { ':at': at },
      }),
  };
}

function changeOf({ providers, ...change }: AccountChange): {
  UpdateExpression: string;
  ConditionExpression: string;
  ExpressionAttributeNames: Record<string, string>;
  ExpressionAttributeValues?: Item;
} {
  const set = Object.entries({ ...change, ...(providers !== 'all' && providers && { providers }) });
  const parts = [
    ...(set.length > 0 ? [`SET ${set.map((_, index) => `#n${index} = :v${index}`).join(', ')}`] : []),
    ...(providers === 'all' ? ['REMOVE #providers'] : []),
  ];
  return {
    UpdateExpression: parts.join(' '),
    ConditionExpression: 'attribute_exists(pk)',
    ExpressionAttributeNames: {
      ...Object.fromEntries(set.map(([name], index) => [`#n${index}`, name])),
      ...(providers === 'all' && { '#providers': 'providers' }),
    },
    ...(set.length > 0 && { ExpressionAttributeValues: Object.fromEntries(set.map(([, value], index) => [`:v${index}`, value])) }),
  };
}

async function listAccounts(table: Table): Promise<Account[]> {
  const accounts: Account[] = [];
  let from: Item | undefined;
  do {
    const answer = await queryPage(table, {
      IndexName: listingIndex.name,
      KeyConditionExpression: `${listingIndex.partition} = :accounts`,
      ExpressionAttributeValues: { ':accounts': 'ACCOUNTS' },
      ...(from && { ExclusiveStartKey: from }),
    });
    for (const row of (answer.Items ?? []) as ItemKey[]) {
      const item = await getItem(table, { pk: row.pk, sk: row.sk });
      if (item) accounts.push(accountFromItem(item));
    }
    from = answer.LastEvaluatedKey;
  } while (from);
  return accounts;
}

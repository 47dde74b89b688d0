/** Accounts and API keys, for the operator's command. */
import { batchGet } from '../aws/dynamodb/batch-get.ts';
import { createOwn, updateIf } from '../aws/dynamodb/conditional.ts';
import { queryAll, queryPages } from '../aws/dynamodb/query.ts';
import { getItem, updateItem } from '../aws/dynamodb/send.ts';
import { type Item, keys, listingIndex, type Table } from '../aws/dynamodb/table.ts';
import type { TransactItem } from '../aws/dynamodb/transaction.ts';
import type { ResultAccess } from '../contract/limits.ts';
import { Overloaded } from '../values/errors.ts';
import type { AccountId, KeyId } from '../values/ids.ts';
import type { Micros } from '../values/money.ts';
import { accountFromItem, accountToItem, apiKeyFromItem } from './account-items.ts';
import { createAccountSettings, isStored } from './account-settings-store.ts';
import type { Account, ApiKey, SealedSecret } from './account.ts';
import type { KeyChange } from './key-changes.ts';
import { createKeyStore, editParts, type KeyStore } from './key-store.ts';

export interface AccountChange {
  readonly name?: string;
  readonly condition?: Account['condition'];
  readonly postRate?: number;
  readonly getRate?: number;
  readonly maxConcurrent?: number;
  readonly deadlineSeconds?: number;
  readonly maxUnusedUploads?: number;
  readonly userPostRate?: number;
  readonly userGetRate?: number;
  readonly providers?: 'all' | readonly string[];
  readonly hiddenModels?: readonly string[];
  /** null removes the attribute. */
  readonly noticeUrl?: string | null;
  readonly lowBalanceMicros?: Micros | null;
  readonly sandbox?: true | null;
  readonly results?: ResultAccess | null;
  readonly resultsMinutes?: number | null;
}

/** What the pages of the operator change. */
export type OperatedChange = Partial<Pick<Account, 'name' | 'condition'> & Account['limits']> &
  Pick<AccountChange, 'results' | 'resultsMinutes'>;

export interface ModelChange {
  readonly hide: readonly string[];
  readonly show: readonly string[];
}

const hiddenModelTries = 20;
/** Accounts per batch. BatchGetItem returns at most 16 MB, so all items of a batch fit into a few calls. */
const accountsAtOnce = 500;

/** Every function throws Overloaded when the table stayed busy. A retry recognizes its own lost write. */
export function createAccountStore(table: Table) {
  const keyStore = createKeyStore(table);
  const settings = createAccountSettings(table);
  return {
    /** False when the id is taken. */
    create: (account: Account): Promise<boolean> =>
      createOwn(
        table,
        accountToItem(account),
        (found) => found['createdAt'] === account.createdAt && found['name'] === account.name,
      ),
    read: (id: AccountId): Promise<Account | undefined> => settings.read(id),
    /** Oldest first. All accounts are in memory at once. */
    list: async (): Promise<Account[]> => {
      const accounts: Account[] = [];
      for await (const page of accountPages(table)) accounts.push(...page);
      return accounts;
    },
    /** Oldest first, some hundred at once. */
    pages: (): AsyncIterable<readonly Account[]> => accountPages(table),
    /** False when there is no such account. */
    changeIfThere: (id: AccountId, change: AccountChange): Promise<boolean> =>
      updateIf(table, keys.account(id), changeOf(change)),
    change: async (id: AccountId, change: AccountChange) => {
      await updateItem(table, keys.account(id), changeOf(change));
    },
    /** False when another call changed one of these values since the account was read. */
    changeAsRead: (read: Account, change: OperatedChange): Promise<boolean> =>
      changeAsRead(table, read, change),
    /** Changes the list of hidden models, and keeps changes that others make at the same time. */
    changeHiddenModels: (id: AccountId, change: ModelChange): Promise<void> =>
      changeHiddenModels(table, id, change),
    /** Stores a new list of secrets. False when the current secret is no longer the given one. */
    replaceSecrets: (
      id: AccountId,
      current: SealedSecret | undefined,
      next: readonly SealedSecret[],
      beside?: readonly TransactItem[],
    ): Promise<boolean> => settings.replaceSecrets(id, current, next, beside),
    /** service/accounts/key-store.ts. */
    createKey: (key: ApiKey): ReturnType<KeyStore['create']> => keyStore.create(key),
    listKeys: async (id: AccountId): Promise<ApiKey[]> =>
      (await queryAll(table, keys.account(id).pk, 'KEY#')).map(apiKeyFromItem),
    /** False when there is no such key. A second revocation keeps the time of the first one. */
    revokeKey: (id: AccountId, key: KeyId, at: string): Promise<boolean> => keyStore.revoke(id, key, at),
    /** False when there is no such key. */
    changeKey: (id: AccountId, key: KeyId, change: KeyChange): Promise<boolean> =>
      updateIf(table, keys.apiKey(id, key), {
        ...editParts(change),
        ConditionExpression: 'attribute_exists(pk)',
      }),
  };
}

async function readAccount(table: Table, id: AccountId): Promise<Account | undefined> {
  const item = await getItem(table, keys.account(id));
  return item && accountFromItem(item);
}

async function changeAsRead(table: Table, read: Account, change: OperatedChange): Promise<boolean> {
  const { name: shown, condition, results, resultsMinutes, limits } = read;
  const before: OperatedChange = {
    ...{ name: shown, condition, ...limits },
    ...(results !== undefined && { results }),
    ...(resultsMinutes !== undefined && { resultsMinutes }),
  };
  const names = Object.keys(change) as (keyof OperatedChange)[];
  const parts = changeOf(change);
  const asRead = names.map((name, index) => {
    if (before[name] === undefined) return `attribute_not_exists(#r${index})`;
    const isSame = `#r${index} = :read${index}`;
    // The item of an older account may lack a limit, and then has its default.
    return name in limits ? `(attribute_not_exists(#r${index}) OR ${isSame})` : isSame;
  });
  const values = {
    ...parts.ExpressionAttributeValues,
    ...Object.fromEntries(
      names.flatMap((name, index) => (before[name] === undefined ? [] : [[`:read${index}`, before[name]]])),
    ),
  };
  return isStored(
    table,
    read.id,
    {
      ...parts,
      ConditionExpression: [parts.ConditionExpression, ...asRead].join(' AND '),
      ExpressionAttributeNames: {
        ...parts.ExpressionAttributeNames,
        ...Object.fromEntries(names.map((name, index) => [`#r${index}`, name])),
      },
      ...(Object.keys(values).length > 0 && { ExpressionAttributeValues: values }),
    },
    (item) => names.every((name) => (item[name] ?? null) === change[name]),
  );
}

/** The condition is the list that was read, so that two operators do not undo each other's changes. */
async function changeHiddenModels(table: Table, id: AccountId, { hide, show }: ModelChange): Promise<void> {
  for (let attempt = 1; attempt <= hiddenModelTries; attempt += 1) {
    const account = await readAccount(table, id);
    if (!account) throw new Error('the account is gone');
    const before = account.policy.hiddenModels;
    const next = [...new Set([...before, ...hide])].filter((model) => !show.includes(model));
    const written = await updateIf(table, keys.account(id), {
      UpdateExpression: 'SET hiddenModels = :next',
      ConditionExpression: [
        ...before.map((_, index) => `hiddenModels[${index}] = :model${index}`),
        `attribute_not_exists(hiddenModels[${before.length}])`,
      ].join(' AND '),
      ExpressionAttributeValues: {
        ':next': next,
        ...Object.fromEntries(before.map((model, index) => [`:model${index}`, model])),
      },
    });
    if (written) return;
    await table.clock.sleep(attempt * (1 + (table.randomBytes(1)[0] ?? 0) / 16));
  }
  throw new Overloaded('the list of hidden models kept changing');
}

/** The providers 'all' and null are stored as no attribute. */
function changeOf(change: AccountChange): {
  UpdateExpression: string;
  ConditionExpression: string;
  ExpressionAttributeNames: Record<string, string>;
  ExpressionAttributeValues?: Item;
} {
  const entries = Object.entries(change).filter(([, value]) => value !== undefined);
  const isRemoved = ([name, value]: (typeof entries)[number]): boolean =>
    value === null || (name === 'providers' && value === 'all');
  const set = entries.filter((entry) => !isRemoved(entry));
  const removed = entries.filter(isRemoved);
  const parts = [
    ...(set.length > 0 ? [`SET ${set.map((_, index) => `#n${index} = :v${index}`).join(', ')}`] : []),
    ...(removed.length > 0 ? [`REMOVE ${removed.map(([name]) => `#${name}`).join(', ')}`] : []),
  ];
  return {
    UpdateExpression: parts.join(' '),
    ConditionExpression: 'attribute_exists(pk)',
    ExpressionAttributeNames: {
      ...Object.fromEntries(set.map(([name], index) => [`#n${index}`, name])),
      ...Object.fromEntries(removed.map(([name]) => [`#${name}`, name])),
    },
    ...(set.length > 0 && {
      ExpressionAttributeValues: Object.fromEntries(set.map(([, value], index) => [`:v${index}`, value])),
    }),
  };
}

/** The entries of the list are in order, and the items of a batch are not. */
async function* accountPages(table: Table): AsyncGenerator<readonly Account[]> {
  const list = {
    IndexName: listingIndex.name,
    KeyConditionExpression: `${listingIndex.partition} = :accounts`,
    ExpressionAttributeValues: { ':accounts': 'ACCOUNTS' },
    Limit: accountsAtOnce,
  };
  for await (const { Items: rows = [] } of queryPages(table, list)) {
    const wanted = rows.map((row) => ({ pk: String(row['pk']), sk: String(row['sk']) }));
    const found = new Map((await batchGet(table, wanted)).map((item) => [item['pk'], accountFromItem(item)]));
    yield wanted.flatMap(({ pk }) => found.get(pk) ?? []);
  }
}

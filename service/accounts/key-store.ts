/** API keys, as people make, change, roll and revoke them. */
import { createOwn, tryUpdate, updateIf } from '../aws/dynamodb/conditional.ts';
import { queryAll } from '../aws/dynamodb/query.ts';
import { getItem, type UpdateParts } from '../aws/dynamodb/send.ts';
import { type Item, keys, type Table } from '../aws/dynamodb/table.ts';
import { transact, type TransactItem } from '../aws/dynamodb/transaction.ts';
import { OutcomeUnknown, Overloaded } from '../values/errors.ts';
import type { AccountId, KeyId } from '../values/ids.ts';
import { apiKeyFromItem, apiKeyToItem } from './account-items.ts';
import type { ApiKey } from './account.ts';
import { capNames } from './caps.ts';
import { editedKey, isPlayground, isUsable, type KeyEdit, mostKeys } from './key-changes.ts';
import { keyVersion } from './version.ts';

/** Adds a key if the account has room and its count of keys is still the one that was read. */
const mostTries = 25;

/** @returns "refused": the id is taken, or a condition of `others` failed @throws OutcomeUnknown */
async function addKey(
  table: Table,
  key: ApiKey,
  others: readonly TransactItem[] = [],
): Promise<'added' | 'refused' | 'too_many'> {
  for (let attempt = 1; attempt <= mostTries; attempt += 1) {
    const place = await nextPlace(table, key);
    if (!place) return 'too_many';
    const put = {
      Put: {
        TableName: table.name,
        Item: apiKeyToItem(key),
        ConditionExpression: 'attribute_not_exists(pk)',
      },
    };
    const outcome = await added(table, key, [put, { Update: place }, ...others]);
    if (outcome !== 'look_again') return outcome;
    await table.clock.sleep(attempt * (1 + (table.randomBytes(1)[0] ?? 0) / 16));
  }
  throw new Overloaded('the keys of the account kept changing');
}

/** Undefined: the account has as many keys as it may have. */
async function nextPlace(table: Table, { accountId }: ApiKey): Promise<TransactItem['Update'] | undefined> {
  const count = await getItem(table, keys.addedKeys(accountId));
  const stored = await queryAll(table, keys.account(accountId).pk, 'KEY#');
  const now = table.clock.now();
  const working = stored.map(apiKeyFromItem).filter((key) => !isPlayground(key) && isUsable(key, now));
  if (working.length >= mostKeys) return undefined;
  return {
    TableName: table.name,
    Key: keys.addedKeys(accountId),
    UpdateExpression: 'SET added = :next',
    ConditionExpression: count ? 'added = :read' : 'attribute_not_exists(pk)',
    ExpressionAttributeValues: {
      ':next': Number(count?.['added'] ?? 0) + 1,
      ...(count && { ':read': count['added'] }),
    },
  };
}

/** "look_again": only the count of added keys was no longer the one that was read. */
async function added(
  table: Table,
  key: ApiKey,
  items: readonly TransactItem[],
): Promise<'added' | 'refused' | 'look_again'> {
  const isStored = async (): Promise<boolean> =>
    (await getItem(table, keys.apiKey(key.accountId, key.id)))?.['hash'] === key.hash;
  let cause: unknown;
  try {
    const outcome = await transact(table, items, Buffer.from(table.randomBytes(24)).toString('base64url'));
    switch (outcome.kind) {
      case 'done':
        return 'added';
      case 'refused': {
        const [put, count, ...others] = outcome.refusals;
        if (count && !put && others.every((one) => one === undefined)) return 'look_again';
        return put && (await isStored()) ? 'added' : 'refused';
      }
      case 'overloaded':
        if (!outcome.unclear) throw new Overloaded('the keys of the account stayed busy');
    }
  } catch (error) {
    if (error instanceof Overloaded) throw error;
    cause = error;
  }
  if (await isStored().catch(() => false)) return 'added';
  throw new OutcomeUnknown('No answer says whether the key was stored.', { cause });
}

export function createKeyStore(table: Table) {
  return {
    read: async (account: AccountId, id: KeyId): Promise<ApiKey | undefined> => {
      const item = await getItem(table, keys.apiKey(account, id));
      return item && apiKeyFromItem(item);
    },
    /** "id_taken" also when a condition of `others` failed, which are written in the same transaction. */
    create: async (
      key: ApiKey,
      others: readonly TransactItem[] = [],
    ): Promise<'created' | 'id_taken' | 'too_many'> => {
      const outcome = await addKey(table, key, others);
      return outcome === 'added' ? 'created' : outcome === 'refused' ? 'id_taken' : outcome;
    },
    /** False when there is no such key. A second revocation keeps the time of the first one. */
    revoke: (account: AccountId, id: KeyId, at: string): Promise<boolean> =>
      updateIf(table, keys.apiKey(account, id), revocation(at)),
    /** Changes a key, if it is still as it was read. False when somebody changed it meanwhile. */
    change: (read: ApiKey, edit: KeyEdit): Promise<boolean> => change(table, read, edit),
    /**
     * Stores the new key and the end of the old key in one transaction. "changed": another request changed
     * the old key first.
     */
    roll: (
      read: ApiKey,
      next: ApiKey,
      oldEndsAt: string,
      others: readonly TransactItem[] = [],
    ): Promise<'rolled' | 'changed' | 'too_many'> => roll(table, read, next, oldEndsAt, others),
    /** Revokes the key, if all conditions of `others` hold. */
    revokeWith: async (
      account: AccountId,
      id: KeyId,
      at: string,
      others: readonly TransactItem[],
    ): Promise<'revoked' | 'refused'> => {
      const Update = { TableName: table.name, Key: keys.apiKey(account, id), ...revocation(at) };
      const outcome = await transact(table, [{ Update }, ...others]);
      if (outcome.kind === 'overloaded') throw new Overloaded('the key stayed busy');
      return outcome.kind === 'done' ? 'revoked' : 'refused';
    },
  };
}

function revocation(at: string) {
  return {
    UpdateExpression: 'SET revokedAt = if_not_exists(revokedAt, :at)',
    ConditionExpression: 'attribute_exists(pk)',
    ExpressionAttributeValues: { ':at': at },
  };
}

const edited = ['name', ...capNames, 'models', 'expiresAt', 'revokedAt'] as const;

/** The update of an edit. `name` is a reserved word of DynamoDB. A new end replaces that of a roll. */
export function editParts(edit: KeyEdit): UpdateParts & { readonly UpdateExpression: string } {
  const changed = Object.entries(edit);
  const set = changed.filter(([, value]) => value !== null).map(([name]) => `#${name} = :${name}`);
  const removed = [
    ...changed.filter(([, value]) => value === null).map(([name]) => `#${name}`),
    ...('expiresAt' in edit ? ['rolled'] : []),
  ];
  return {
    UpdateExpression: [
      ...(set.length > 0 ? [`SET ${set.join(', ')}`] : []),
      ...(removed.length > 0 ? [`REMOVE ${removed.join(', ')}`] : []),
    ].join(' '),
    ExpressionAttributeNames: Object.fromEntries(changed.map(([name]) => [`#${name}`, name])),
    ...(set.length > 0 && {
      ExpressionAttributeValues: Object.fromEntries(
        changed.filter(([, value]) => value !== null).map(([name, value]) => [`:${name}`, value]),
      ),
    }),
  };
}

function isAsRead(read: ApiKey): Required<Pick<UpdateParts, 'ConditionExpression'>> & {
  readonly names: Readonly<Record<string, string>>;
  readonly values: Item;
} {
  const conditions = edited.map((name) =>
    read[name] === undefined ? `attribute_not_exists(#${name})` : `#${name} = :read_${name}`,
  );
  return {
    // Without this condition an update of a key that is gone would make a new item.
    ConditionExpression: ['attribute_exists(pk)', ...conditions].join(' AND '),
    names: Object.fromEntries(edited.map((name) => [`#${name}`, name])),
    values: Object.fromEntries(
      edited.flatMap((name) => (read[name] === undefined ? [] : [[`:read_${name}`, read[name]]])),
    ),
  };
}

/** The update of a key, under the condition that it has not changed since it was read. */
function updateAsRead(
  read: ApiKey,
  edit: KeyEdit,
): Omit<NonNullable<TransactItem['Update']>, 'TableName' | 'Key'> {
  const parts = editParts(edit);
  const condition = isAsRead(read);
  const values = { ...condition.values, ...parts.ExpressionAttributeValues };
  return {
    ...parts,
    ConditionExpression: condition.ConditionExpression,
    ExpressionAttributeNames: { ...condition.names, ...parts.ExpressionAttributeNames },
    ...(Object.keys(values).length > 0 && { ExpressionAttributeValues: values }),
  };
}

async function change(table: Table, read: ApiKey, edit: KeyEdit): Promise<boolean> {
  const outcome = await tryUpdate(table, keys.apiKey(read.accountId, read.id), updateAsRead(read, edit));
  switch (outcome.kind) {
    case 'written':
      return true;
    case 'busy':
      throw new Overloaded('the key stayed busy');
    case 'refused':
      // Our first write may have succeeded with its answer lost. Then the key already has the edited values.
      return (
        outcome.item !== undefined &&
        keyVersion(apiKeyFromItem(outcome.item)) === keyVersion(editedKey(read, edit))
      );
  }
}

/** The new expiry of the old key, and the expiry that people had chosen for it. */
function ending(read: ApiKey, oldEndsAt: string): ReturnType<typeof updateAsRead> {
  const parts = updateAsRead(read, {});
  const rolled = read.rolled ?? (read.expiresAt === undefined ? {} : { expiresAt: read.expiresAt });
  return {
    ...parts,
    UpdateExpression: 'SET #expiresAt = :ends, rolled = :rolled',
    ExpressionAttributeValues: { ...parts.ExpressionAttributeValues, ':ends': oldEndsAt, ':rolled': rolled },
  };
}

async function roll(
  table: Table,
  read: ApiKey,
  next: ApiKey,
  oldEndsAt: string,
  others: readonly TransactItem[],
): Promise<'rolled' | 'changed' | 'too_many'> {
  const end: TransactItem = {
    Update: { TableName: table.name, Key: keys.apiKey(read.accountId, read.id), ...ending(read, oldEndsAt) },
  };
  const outcome = await addKey(table, next, [end, ...others]);
  return outcome === 'added' ? 'rolled' : outcome === 'refused' ? 'changed' : outcome;
}

/** Stores the key of the playground, which is in no list of keys. False when another key has the id. */
export function putKey(table: Table, key: ApiKey): Promise<boolean> {
  return createOwn(table, apiKeyToItem(key), (found) => found['hash'] === key.hash);
}

// The API keys of accounts, as people manage them.

/** Every function throws Overloaded when the table stayed busy. A retry recognizes its own lost write. */
export type KeyStore = ReturnType<typeof createKeyStore>;

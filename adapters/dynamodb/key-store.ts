/** API keys, as people make, change, roll and revoke them. */
import type { ApiKey } from '../../core/account.ts';
import { editedKey, type KeyEdit } from '../../core/api-keys.ts';
import { capNames } from '../../core/caps.ts';
import { keyVersion } from '../../core/portal/version.ts';
import type { KeyStore } from '../../core/ports/keys.ts';
import { Overloaded } from '../../core/ports/requests.ts';
import { tryUpdate, updateIf, type UpdateParts } from './conditional.ts';
import { addKey } from './add-key.ts';
import { apiKeyFromItem } from './mapping.ts';
import { getItem } from './send.ts';
import { keys, type Item, type Table } from './table.ts';
import type { TransactItem } from './transaction.ts';

export function createKeyStore(table: Table): KeyStore {
  return {
    read: async (account, id) => {
      const item = await getItem(table, keys.apiKey(account, id));
      return item && apiKeyFromItem(item);
    },
    create: async (key) => {
      const outcome = await addKey(table, key);
      return outcome === 'added' ? 'created' : outcome === 'refused' ? 'id_taken' : outcome;
    },
    revoke: (account, id, at) =>
      updateIf(table, keys.apiKey(account, id), {
        UpdateExpression: 'SET revokedAt = if_not_exists(revokedAt, :at)',
        ConditionExpression: 'attribute_exists(pk)',
        ExpressionAttributeValues: { ':at': at },
      }),
    change: (read, edit) => change(table, read, edit),
    roll: (read, next, oldEndsAt) => roll(table, read, next, oldEndsAt),
  };
}

/** What people edit of a key, and its revocation. */
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

/** Every value that people edit is the one that was read. */
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
): Promise<'rolled' | 'changed' | 'too_many'> {
  const end: TransactItem = {
    Update: { TableName: table.name, Key: keys.apiKey(read.accountId, read.id), ...ending(read, oldEndsAt) },
  };
  const outcome = await addKey(table, next, [end]);
  return outcome === 'added' ? 'rolled' : outcome === 'refused' ? 'changed' : outcome;
}

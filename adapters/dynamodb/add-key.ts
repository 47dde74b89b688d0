/**
 * Adds a key to an account that has room for it. The transaction requires the count of added keys that was read before
 * the keys were counted, and every added key changes it: so of several keys at the same time one is stored,
 * and the others count again.
 */
import type { ApiKey } from '../../core/account.ts';
import { isPlayground, isUsable, mostKeys } from '../../core/api-keys.ts';
import { OutcomeUnknown, Overloaded } from '../../core/ports/requests.ts';
import { apiKeyFromItem, apiKeyToItem } from './mapping.ts';
import { queryAll } from './query.ts';
import { getItem } from './send.ts';
import { keys, type Table } from './table.ts';
import { transact, type TransactItem } from './transaction.ts';

const mostTries = 25;

/**
 * @param others writes of the same transaction
 * @returns "refused": another key has the id, or a condition of `others` failed
 * @throws OutcomeUnknown when it is unknown whether the key was written
 */
export async function addKey(
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

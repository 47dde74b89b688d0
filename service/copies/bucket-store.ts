/**
 * The bucket of an account is one item. The same transaction sets a flag in the account's item, so that a
 * charge knows without a further read whether its picture is to be copied.
 */
import { updateIf } from '../aws/dynamodb/conditional.ts';
import { getItem } from '../aws/dynamodb/send.ts';
import { type Item, type ItemKey, keys, type Table } from '../aws/dynamodb/table.ts';
import { transact } from '../aws/dynamodb/transaction.ts';
import { Overloaded } from '../values/errors.ts';
import type { AccountId } from '../values/ids.ts';
import type { StoredBucket } from './bucket.ts';

export function bucketKey(account: AccountId): ItemKey {
  return { pk: keys.account(account).pk, sk: 'BUCKET' };
}

function bucketFromItem(item: Item): StoredBucket {
  const { pk, sk, ...bucket } = item;
  return bucket as unknown as StoredBucket;
}

export type BucketStore = ReturnType<typeof createBucketStore>;

/** Writes throw Overloaded when the table stayed busy. */
export function createBucketStore(table: Table) {
  const ofAccount = (id: AccountId, change: string, values?: Item) => ({
    Update: {
      TableName: table.name,
      Key: keys.account(id),
      UpdateExpression: change,
      ConditionExpression: 'attribute_exists(pk)',
      ...(values && { ExpressionAttributeValues: values }),
    },
  });
  const write = async (...[, items]: Parameters<typeof transact>): Promise<void> => {
    const outcome = await transact(table, items);
    if (outcome.kind === 'overloaded') throw new Overloaded('the account stayed busy');
    if (outcome.kind === 'refused') throw new Error('the account of the bucket has no record');
  };
  return {
    /** One consistent read. */
    read: async (id: AccountId): Promise<StoredBucket | undefined> => {
      const item = await getItem(table, bucketKey(id));
      return item && bucketFromItem(item);
    },
    /** Replaces the bucket. Pictures of requests that are accepted from now on are copied. */
    set: (id: AccountId, bucket: StoredBucket): Promise<void> =>
      write(table, [
        { Put: { TableName: table.name, Item: { ...bucketKey(id), ...bucket } } },
        ofAccount(id, 'SET copies = :true', { ':true': true }),
      ]),
    /** Stops all copies, including those that are due. */
    remove: (id: AccountId): Promise<void> =>
      write(table, [
        { Delete: { TableName: table.name, Key: bucketKey(id) } },
        ofAccount(id, 'REMOVE copies'),
      ]),
    /** Replaces the sealed keys. False when the bucket was changed since it was read. */
    reseal: (id: AccountId, known: StoredBucket, sealedKeys: string): Promise<boolean> =>
      updateIf(table, bucketKey(id), {
        UpdateExpression: 'SET sealedKeys = :next',
        ConditionExpression: 'sealedKeys = :known',
        ExpressionAttributeValues: { ':next': sealedKeys, ':known': known.sealedKeys },
      }),
  };
}

/**
 * Uploads: a record for each, and one item of the account with the ids of its unused uploads. The number of
 * ids in that item is the count that the quota limits. An id says when its upload expires, so the ids of
 * expired uploads are removed when the item is full, and nothing has to run when an upload expires.
 */
import { batchGet } from '../aws/dynamodb/batch-get.ts';
import { putNew, tryUpdate } from '../aws/dynamodb/conditional.ts';
import { updateItem, type UpdateParts } from '../aws/dynamodb/send.ts';
import { type Item, type ItemKey, keys, type Table, ttlAttribute } from '../aws/dynamodb/table.ts';
import { transact } from '../aws/dynamodb/transaction.ts';
import { Overloaded } from '../values/errors.ts';
import type { AccountId, TokenId, UploadId } from '../values/ids.ts';
import { expiryOf, isUsable, type NewUploadOutcome, type Upload } from './upload.ts';

export type UploadReader = ReturnType<typeof createUploadReader>;

function uploadToItem(upload: Upload): Item & ItemKey {
  return {
    ...keys.upload(upload.accountId, upload.id),
    ...upload,
    [ttlAttribute]: Math.ceil(upload.expiresAt / 1000),
  };
}

function uploadFromItem({ pk, sk, expiresAtSeconds, ...upload }: Item): Upload {
  return upload as unknown as Upload;
}

const hasRoom = '(attribute_not_exists(unused) OR size(unused) < :limit)';
/** True when an earlier try of the same call took the slot and its answer was lost. */
const isTaken = 'contains(unused, :id)';

/** Each try frees expired slots first. Other requests may take these slots before the next try. */
const mostTries = 4;

/** The uploads that a request may name. The function that charges makes none. */
export function createUploadReader(table: Table) {
  return {
    /** Those of these uploads that the account has and that have not expired at this time. */
    usable: async (
      accountId: AccountId,
      ids: readonly UploadId[],
      nowMillis: number,
    ): Promise<readonly Upload[]> => {
      if (ids.length === 0) return [];
      // The account is a part of the key: another account's upload is not found.
      const items = await batchGet(
        table,
        ids.map((id) => keys.upload(accountId, id)),
      );
      return items.map(uploadFromItem).filter((upload) => isUsable(upload, nowMillis));
    },
  };
}

export function createUploadStore(table: Table) {
  return {
    ...createUploadReader(table),
    /**
     * Stores the record if the account has a free slot for unused uploads. The count is exact. Throws
     * Overloaded.
     */
    create: async (
      upload: Upload,
      mostUnused: number,
      nowMillis: number,
      token?: TokenId,
    ): Promise<NewUploadOutcome> => {
      // The record comes first. If the quota refuses the upload, or if the function dies in between, no
      // client has the id of this record, and it is deleted a day later. A counted id without a record would
      // count for a day.
      if (mostUnused === 0) return { kind: 'too_many_unused', current: 0 };
      if (token === undefined) await putNew(table, uploadToItem(upload));
      else if (!(await putByToken(table, upload, token, nowMillis))) return { kind: 'token_used_up' };
      return takePlace(table, upload.accountId, upload.id, mostUnused, nowMillis);
    },
  };
}

/** Stores the record and counts it for the token, in one call. False when the token may announce no more. */
async function putByToken(table: Table, upload: Upload, token: TokenId, nowMillis: number): Promise<boolean> {
  const outcome = await transact(
    table,
    [
      {
        Put: {
          TableName: table.name,
          Item: uploadToItem(upload),
          ConditionExpression: 'attribute_not_exists(pk)',
        },
      },
      {
        Update: {
          TableName: table.name,
          Key: keys.userToken(upload.accountId, token),
          UpdateExpression: 'SET uploadsLeft = uploadsLeft - :one',
          ConditionExpression: 'attribute_not_exists(revokedAt) AND expiresAt > :at AND uploadsLeft >= :one',
          ExpressionAttributeValues: { ':one': 1, ':at': new Date(nowMillis).toISOString() },
        },
      },
    ],
    upload.id,
  );
  if (outcome.kind === 'overloaded') throw new Overloaded('the token stayed busy');
  return outcome.kind === 'done';
}

async function takePlace(
  table: Table,
  accountId: AccountId,
  id: UploadId,
  limit: number,
  nowMillis: number,
): Promise<NewUploadOutcome> {
  for (let tries = 1; ; tries += 1) {
    const outcome = await tryUpdate(table, keys.unusedUploads(accountId), {
      UpdateExpression: 'ADD unused :one SET #ttl = :ttl',
      ConditionExpression: `${hasRoom} OR ${isTaken}`,
      ExpressionAttributeNames: { '#ttl': ttlAttribute },
      ExpressionAttributeValues: {
        ':one': new Set([id]),
        ':id': id,
        ':limit': limit,
        // The item may go when the last of its uploads has expired.
        ':ttl': Math.ceil(expiryOf(id) / 1000),
      },
    });
    if (outcome.kind === 'written') return { kind: 'created' };
    if (outcome.kind === 'busy') throw new Overloaded('the list of unused uploads stayed busy');
    const unused = unusedIn(outcome.item);
    const expired = unused.filter((one) => expiryOf(one) <= nowMillis);
    if (expired.length === 0 || tries === mostTries)
      return { kind: 'too_many_unused', current: unused.length - expired.length };
    await updateItem(table, keys.unusedUploads(accountId), noLongerUnused(expired));
  }
}

function unusedIn(item: Item | undefined): UploadId[] {
  const unused = item?.['unused'];
  return unused instanceof Set ? ([...unused] as UploadId[]) : [];
}

/** The update of the account's item after which these uploads do not count. An id that is gone is no error. */
export function noLongerUnused(
  uploads: readonly UploadId[],
): Pick<UpdateParts, 'ExpressionAttributeValues'> & { readonly UpdateExpression: string } {
  return {
    UpdateExpression: 'DELETE unused :gone',
    ExpressionAttributeValues: { ':gone': new Set(uploads) },
  };
}

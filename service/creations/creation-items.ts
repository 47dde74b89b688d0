import { metadataFrom } from '../accounts/account-items.ts';
import { type Item, keys, listingIndex, openShard } from '../aws/dynamodb/table.ts';
import type { CreationId } from '../values/ids.ts';
import type { CreationRecord, IdempotencyRecord } from './creation.ts';

export const keptDays = 30;

/** The item has no request id: the ledger row of the charge holds it, and that row never changes. */
export function creationToItem({ requestId, ...creation }: CreationRecord): Item {
  return {
    ...keys.creation(creation.id),
    ...creation,
    // Stored as one text, because the SDK's marshaller fails on names such as constructor and loses
    // __proto__.
    metadata: JSON.stringify(creation.metadata),
    openShard: openShard('OPEN', creation.id),
    [listingIndex.partition]: `CREATIONS#${creation.accountId}`,
    [listingIndex.sort]: creation.id,
  };
}

export function creationFromItem(item: Item): CreationRecord {
  const { pk, sk, openShard: shard, listing, listed, ...record } = item;
  return { ...record, metadata: metadataFrom(record['metadata']) } as unknown as CreationRecord;
}

export function listedIdOf(row: Item): CreationId {
  return String(row['listed']) as CreationId;
}

interface IdempotencyItem extends Omit<IdempotencyRecord, 'creationIds'> {
  readonly creationId: CreationId;
  /** Only when one charge made several creations. */
  readonly creationIds?: IdempotencyRecord['creationIds'];
}

export function idempotencyFromItem(item: Item): IdempotencyRecord {
  const { creationId, creationIds, requestHash, expiresAt } = item as unknown as IdempotencyItem;
  return { creationIds: creationIds ?? [creationId], requestHash, expiresAt };
}

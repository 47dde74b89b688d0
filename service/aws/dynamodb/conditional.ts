/** Single writes whose failed condition is a normal outcome and no error. */
import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { Overloaded } from '../../values/errors.ts';
import { getItem, putItem, type PutParts, updateItem, type UpdateParts } from './send.ts';
import type { Item, ItemKey, Table } from './table.ts';

export async function updateIf(table: Table, key: ItemKey, parts: UpdateParts): Promise<boolean> {
  return isWritten(updateItem(table, key, parts));
}

export type UpdateOutcome =
  | { readonly kind: 'written' }
  /** The condition failed. `item` is the stored item at that moment. */
  | { readonly kind: 'refused'; readonly item: Item | undefined }
  | { readonly kind: 'busy' };

export async function tryUpdate(table: Table, key: ItemKey, parts: UpdateParts): Promise<UpdateOutcome> {
  try {
    await updateItem(table, key, { ReturnValuesOnConditionCheckFailure: 'ALL_OLD', ...parts });
    return { kind: 'written' };
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException)
      return { kind: 'refused', item: error.Item && unmarshall(error.Item) };
    if (error instanceof Overloaded) return { kind: 'busy' };
    throw error;
  }
}

export async function putIf(table: Table, item: Item, parts: PutParts): Promise<boolean> {
  return isWritten(putItem(table, item, parts));
}

/** False when the table already holds an item with this key. */
export async function putNew(table: Table, item: Item): Promise<boolean> {
  return putIf(table, item, { ConditionExpression: 'attribute_not_exists(pk)' });
}

/** False when another item has the id. After a lost answer, the item that is found may be our own. */
export async function createOwn(
  table: Table,
  item: Item & ItemKey,
  isOurs: (found: Item) => boolean,
): Promise<boolean> {
  if (await putNew(table, item)) return true;
  const found = await getItem(table, { pk: item.pk, sk: item.sk });
  return found !== undefined && isOurs(found);
}

async function isWritten(write: Promise<unknown>): Promise<boolean> {
  try {
    await write;
    return true;
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return false;
    throw error;
  }
}

/** Single writes whose condition is an answer, not a breakage. */
import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { PutCommand, UpdateCommand, type UpdateCommandInput } from '@aws-sdk/lib-dynamodb';
import type { Item, ItemKey, Table } from './table.ts';

export type UpdateParts = Omit<UpdateCommandInput, 'TableName' | 'Key'>;

/** False when the update's condition failed. */
export async function updateIf(table: Table, key: ItemKey, parts: UpdateParts): Promise<boolean> {
  return isWritten(table.client.send(new UpdateCommand({ TableName: table.name, Key: key, ...parts })));
}

/** False when there is such an item already. */
export async function putNew(table: Table, item: Item): Promise<boolean> {
  const put = new PutCommand({ TableName: table.name, Item: item, ConditionExpression: 'attribute_not_exists(pk)' });
  return isWritten(table.client.send(put));
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

import { queryPages } from '../aws/dynamodb/query.ts';
import { deleteItem } from '../aws/dynamodb/send.ts';
import { type ItemKey, keys, type Table } from '../aws/dynamodb/table.ts';
import type { CreationRecord } from '../creations/creation.ts';
import { timeOfUuidV7 } from '../values/ids.ts';

/** The clocks of two functions differ by less. */
const clockMillis = 60_000;

type DeliveredCreation = Pick<CreationRecord, 'id' | 'accountId' | 'completedAt' | 'webhook'>;

export function createLeftoversStore(table: Table) {
  return {
    /** Deletes the rows of a creation's deliveries. The record names the last attempt, whose id holds its time. */
    removeDeliveries: (creation: DeliveredCreation): Promise<void> => removeDeliveries(table, creation),
  };
}

async function removeDeliveries(
  table: Table,
  { id, accountId, completedAt, webhook }: DeliveredCreation,
): Promise<void> {
  if (completedAt === undefined || webhook?.claimedBy === undefined) return;
  const at = (millis: number): string => `DELIVERY#${new Date(millis).toISOString()}`;
  const last = timeOfUuidV7(webhook.claimedBy) ?? table.clock.now();
  const query = {
    KeyConditionExpression: 'pk = :pk',
    range: { sort: 'sk', from: at(Date.parse(completedAt) - clockMillis), to: at(last + clockMillis) },
    FilterExpression: 'creationId = :id',
    ProjectionExpression: 'pk, sk',
    ExpressionAttributeValues: { ':pk': keys.account(accountId).pk, ':id': id },
  };
  for await (const page of queryPages(table, query))
    for (const row of page.Items ?? []) await deleteItem(table, row as ItemKey);
}

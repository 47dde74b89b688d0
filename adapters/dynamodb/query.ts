import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import type { Item, Table } from './table.ts';

/** All items of a partition whose sort key begins so, in the order of that key. */
export async function queryAll(table: Table, pk: string, beginning: string, newestFirst = false, limit = Infinity): Promise<Item[]> {
  const items: Item[] = [];
  let from: Item | undefined;
  do {
    const answer = await table.client.send(
      new QueryCommand({
        TableName: table.name,
        ConsistentRead: true,
        KeyConditionExpression: 'pk = :pk AND begins_with(sk, :beginning)',
        ExpressionAttributeValues: { ':pk': pk, ':beginning': beginning },
        ScanIndexForward: !newestFirst,
        ...(from && { ExclusiveStartKey: from }),
        ...(Number.isFinite(limit) && { Limit: limit - items.length }),
      }),
    );
    items.push(...(answer.Items ?? []));
    from = answer.LastEvaluatedKey;
  } while (from && items.length < limit);
  return items;
}

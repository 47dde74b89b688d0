import { queryPage } from './send.ts';
import type { Item, Table } from './table.ts';

/** All items of a partition whose sort key begins so, in the order of that key. */
export async function queryAll(
  table: Table,
  pk: string,
  beginning: string,
  newestFirst = false,
  limit = Infinity,
): Promise<Item[]> {
  const items: Item[] = [];
  let from: Item | undefined;
  do {
    const answer = await queryPage(table, {
      KeyConditionExpression: 'pk = :pk AND begins_with(sk, :beginning)',
      ExpressionAttributeValues: { ':pk': pk, ':beginning': beginning },
      ScanIndexForward: !newestFirst,
      ...(from && { ExclusiveStartKey: from }),
      ...(Number.isFinite(limit) && { Limit: limit - items.length }),
    });
    items.push(...(answer.Items ?? []));
    from = answer.LastEvaluatedKey;
  } while (from && items.length < limit);
  return items;
}

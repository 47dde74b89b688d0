import { queryPage, type QueryParts } from './send.ts';
import type { Item, Table } from './table.ts';

/** The pages of a query, until `mostItems` are read. The SDK's paginateQuery does not use the retries of send.ts. */
export async function* queryPages(
  table: Table,
  parts: QueryParts,
  mostItems = Infinity,
): AsyncGenerator<Awaited<ReturnType<typeof queryPage>>> {
  let missing = mostItems;
  let from: Item | undefined;
  do {
    const page = await queryPage(table, {
      ...parts,
      ...(from && { ExclusiveStartKey: from }),
      ...(Number.isFinite(missing) && { Limit: missing }),
    });
    yield page;
    missing -= page.Items?.length ?? 0;
    from = page.LastEvaluatedKey;
  } while (from && missing > 0);
}

/** All items of a partition whose sort key begins with this text, in the order of that key. */
export async function queryAll(
  table: Table,
  pk: string,
  beginning: string,
  newestFirst = false,
  limit = Infinity,
): Promise<Item[]> {
  const query: QueryParts = {
    KeyConditionExpression: 'pk = :pk AND begins_with(sk, :beginning)',
    ExpressionAttributeValues: { ':pk': pk, ':beginning': beginning },
    ScanIndexForward: !newestFirst,
  };
  const items: Item[] = [];
  for await (const page of queryPages(table, query, limit)) items.push(...(page.Items ?? []));
  return items;
}

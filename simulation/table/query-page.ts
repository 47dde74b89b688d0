/** Answers a query: filters the rows of a partition, orders them, and cuts one page. */
import type { Item } from './attributes.ts';
import { condition } from './condition-expressions.ts';
import { pickOf, scopeOf } from './items.ts';
import { indexKeys } from './memory-indexes.ts';
import type { TableRequest } from './table-request.ts';

/** The answer to a query over these rows, which are in ascending order. */
export function pageOf(request: TableRequest, rows: readonly Item[]): Record<string, unknown> {
  const matches = condition(request.KeyConditionExpression ?? '');
  const kept = rows.filter((item) => matches(scopeOf(request, item)));
  if (request.ScanIndexForward === false) kept.reverse();
  const from = request.ExclusiveStartKey;
  const start = from
    ? kept.findIndex((item) => item['pk']?.S === from['pk']?.S && item['sk']?.S === from['sk']?.S) + 1
    : 0;
  const page = kept.slice(start, request.Limit === undefined ? undefined : start + request.Limit);
  const isMore = request.Limit !== undefined && page.length === request.Limit;
  const last = page.at(-1);
  const keyNames = ['pk', 'sk', ...(request.IndexName === undefined ? [] : indexKeys[request.IndexName])];
  return {
    Count: page.length,
    ScannedCount: page.length,
    ...(request.Select !== 'COUNT' && { Items: page }),
    ...(isMore && last && { LastEvaluatedKey: pickOf(last, keyNames) }),
  };
}

/** The strings among the values of a query. One of them names the partition. */
export function stringsOf({ ExpressionAttributeValues: values = {} }: TableRequest): string[] {
  return Object.values(values).flatMap(({ S }) => (S === undefined ? [] : [S]));
}

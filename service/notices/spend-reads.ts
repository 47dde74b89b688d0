/** What all keys of an account spent in a month. Only the functions that check budgets need this query. */
import { spentAttribute } from '../accounts/account-items.ts';
import { queryPages } from '../aws/dynamodb/query.ts';
import { keys, type Table } from '../aws/dynamodb/table.ts';
import type { AccountId } from '../values/ids.ts';
import { asMicros, type Micros } from '../values/money.ts';

/** @returns a function of an account and a month such as "2026_11" */
export function createMonthSpent(table: Table) {
  return async (account: AccountId, month: string): Promise<Micros> => {
    const spent = spentAttribute(month);
    const query = {
      KeyConditionExpression: 'pk = :pk AND begins_with(sk, :key)',
      ExpressionAttributeValues: { ':pk': keys.account(account).pk, ':key': 'KEY#' },
      ProjectionExpression: '#spent',
      ExpressionAttributeNames: { '#spent': spent },
    };
    let sum = 0;
    for await (const { Items: items = [] } of queryPages(table, query))
      for (const item of items) sum += Number(item[spent] ?? 0);
    return asMicros(sum);
  };
}

import { dayAfter, type Days } from '../../core/booked-row.ts';
import type { AccountId } from '../../core/ids.ts';
import { keys } from './table.ts';
import type { QueryParts } from './send.ts';

/** The query for the rows of the ledger of these days, the oldest first. */
export function ledgerOfDays(
  account: AccountId,
  { from, to }: Days,
): Required<Pick<QueryParts, 'KeyConditionExpression' | 'ExpressionAttributeValues'>> {
  return {
    // Times follow "LEDGER#". No time is only a day, so the day after `to` is not included.
    KeyConditionExpression: 'pk = :pk AND sk BETWEEN :from AND :behind',
    ExpressionAttributeValues: {
      ':pk': keys.account(account).pk,
      ':from': `LEDGER#${from}`,
      ':behind': `LEDGER#${dayAfter(to)}`,
    },
  };
}

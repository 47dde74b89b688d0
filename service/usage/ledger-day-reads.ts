import { ledgerRowFromItem } from '../accounts/account-items.ts';
import type { LedgerRow } from '../accounts/ledger.ts';
import { queryPages } from '../aws/dynamodb/query.ts';
import type { QueryParts } from '../aws/dynamodb/send.ts';
import { keys, type Table } from '../aws/dynamodb/table.ts';
import type { AccountId } from '../values/ids.ts';
import { dayAfter } from '../values/time.ts';
import type { Days } from './booked-row.ts';

/** The query for the rows of the ledger of these days, the oldest first. */
export function ledgerOfDays(account: AccountId, { from, to }: Days): QueryParts {
  return {
    KeyConditionExpression: 'pk = :pk',
    ExpressionAttributeValues: { ':pk': keys.account(account).pk },
    // Times follow "LEDGER#". No time is only a day, so the day after `to` is not included.
    range: { sort: 'sk', from: `LEDGER#${from}`, to: `LEDGER#${dayAfter(to)}` },
  };
}

/** The rows of these days, the oldest first, page by page. */
export async function* readLedgerRows(
  table: Table,
  account: AccountId,
  days: Days,
): AsyncGenerator<readonly LedgerRow[]> {
  for await (const page of queryPages(table, ledgerOfDays(account, days)))
    yield (page.Items ?? []).map(ledgerRowFromItem);
}

import { dayAfter, type Days } from '../../core/booked-row.ts';
import type { AccountId } from '../../core/ids.ts';
import type { LedgerRow } from '../../core/ledger.ts';
import { ledgerRowFromItem } from './mapping.ts';
import { queryPages } from './query.ts';
import { keys, type Table } from './table.ts';
import type { QueryParts } from './send.ts';

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

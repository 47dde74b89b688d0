/** Keeps the closing balances, in a partition for each account. */
import { queryAll } from '../aws/dynamodb/query.ts';
import { putItem } from '../aws/dynamodb/send.ts';
import type { Table } from '../aws/dynamodb/table.ts';
import type { AccountId } from '../values/ids.ts';
import type { Closing } from './closings.ts';

const partition = (account: AccountId): string => `CLOSING#${account}`;
const sortStart = 'MONTH#';

export function createClosingStore(table: Table) {
  return {
    /** The oldest first. */
    read: async (account: AccountId): Promise<readonly Closing[]> =>
      (await queryAll(table, partition(account), sortStart)).map((item) => ({
        month: String(item['sk']).slice(sortStart.length),
        rows: Number(item['rows']),
        availableMicros: Number(item['availableMicros']),
        creditLineMicros: Number(item['creditLineMicros']),
      })),
    write: (account: AccountId, { month, ...sums }: Closing): Promise<void> =>
      putItem(table, { pk: partition(account), sk: `${sortStart}${month}`, ...sums }),
  };
}

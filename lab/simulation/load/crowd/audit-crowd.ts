/** The operator's audit over the books of a crowd: what is in its table, and what is in its archive. */
import type { Item } from '../../../../local/dynamodb/attributes.ts';
import { auditAccounts, noProgress } from '../../../../service/audit/audit-accounts.ts';
import { createBooksReader } from '../../../../service/audit/books-reads.ts';
import type { Difference } from '../../../../service/audit/books.ts';
import type { Table } from '../../../../service/aws/dynamodb/table.ts';
import { createSimulatedTable, type SimulatedTable, tableName } from '../../aws/simulated-table.ts';
import { leanTableClient } from '../lean/lean-clients.ts';
import { type Archive, shelfCount } from './archive.ts';

export interface CrowdAudit {
  readonly accounts: number;
  readonly creations: number;
  /** The items that came out of the archive. */
  readonly unpacked: number;
  readonly differences: readonly Difference[];
}

/** Audits the accounts of one shelf after the other, so that only a part of the books is unpacked at a time. */
export async function auditCrowd(table: SimulatedTable, store: Table, archive: Archive): Promise<CrowdAudit> {
  const left = Array.from({ length: shelfCount }, (): Item[] => []);
  for (const item of table.all()) {
    const account = accountOf(item);
    if (account !== undefined) left[archive.shelfOf(account)]?.push(item);
  }
  const sum = { accounts: 0, creations: 0, unpacked: 0, differences: [] as Difference[] };
  for (const [shelf, items] of left.entries()) {
    const books = createSimulatedTable({ now: () => store.clock.now(), remembers: false });
    const put = (item: Item): void => void books.perform('PutItem', { TableName: tableName, Item: item });
    items.forEach(put);
    for (const item of archive.itemsOn(shelf)) {
      put(item);
      sum.unpacked += 1;
    }
    const client = leanTableClient((operation, input) => Promise.resolve(books.perform(operation, input)));
    const { progress } = await auditAccounts(
      {
        books: createBooksReader({ ...store, client }),
        nowMillis: () => store.clock.now(),
        pause: () => Promise.resolve(),
        isTimeUp: () => false,
        onAccount: (audited) => sum.differences.push(...audited.differences),
      },
      noProgress,
    );
    sum.accounts += progress.accounts;
    sum.creations += progress.creations;
  }
  return sum;
}

function accountOf(item: Item): string | undefined {
  const pk = item['pk']?.S ?? '';
  if (pk.startsWith('ACCOUNT#')) return pk.slice('ACCOUNT#'.length);
  return item['sk']?.S === 'CREATION' ? item['accountId']?.S : undefined;
}

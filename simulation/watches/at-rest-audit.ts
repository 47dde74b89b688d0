/** The operator's own audit over a world's table: its adapter and its rules, without delays or faults. */
import { readBooks } from '../../adapters/dynamodb/audit-store.ts';
import type { Table } from '../../adapters/dynamodb/table.ts';
import { auditAccount, type Difference } from '../../core/ledger.ts';
import { createDirectClient } from '../table/direct-client.ts';
import type { MemoryTable } from '../table/memory-table.ts';

/** One client for all worlds, since it takes longer to make than to use. */
let audited: MemoryTable | undefined;
const client = createDirectClient((operation, input) => {
  if (!audited) throw new Error('no table is audited');
  return audited.perform(operation, input);
});

export async function auditTable(table: MemoryTable, store: Table): Promise<Difference[]> {
  audited = table;
  return (await readBooks({ ...store, client })).flatMap(auditAccount);
}

/** Runs the operator's own audit over the table of a world, without delays or faults. */
import { readBooks } from '../../adapters/dynamodb/audit-store.ts';
import type { Table } from '../../adapters/dynamodb/table.ts';
import { auditAccount, type Difference } from '../../core/ledger.ts';
import { createDirectClient } from '../aws/direct-client.ts';
import type { SimulatedTable } from '../aws/simulated-table.ts';

/** One client serves all worlds, because creating a client takes longer than an audit. */
let audited: SimulatedTable | undefined;
const client = createDirectClient((operation, input) => {
  if (!audited) throw new Error('no table is audited');
  return audited.perform(operation, input);
});

/** The store over the table alone. It may be used once the world is at rest. */
export function atRestStore(table: SimulatedTable, store: Table): Table {
  audited = table;
  return { ...store, client };
}

export async function auditTable(table: SimulatedTable, store: Table): Promise<Difference[]> {
  return (await readBooks(atRestStore(table, store))).flatMap(auditAccount);
}

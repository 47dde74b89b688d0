/** Runs the audit over the table of a world, without delays or faults, in parts as the daily audit does. */
import { auditAccounts, type AuditedPart, noProgress } from '../../../service/audit/audit-accounts.ts';
import { createBooksReader } from '../../../service/audit/books-reads.ts';
import type { Difference } from '../../../service/audit/books.ts';
import type { LookState } from '../../../service/audit/look-at-account.ts';
import type { Table } from '../../../service/aws/dynamodb/table.ts';
import { createDirectClient } from '../aws/http-exchange.ts';
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

/** How often the first part of a run may ask for the time. Each further part may ask once more. */
const firstQuestions = 3;

/** The differences, and the accounts over which the audit has passed. */
export async function auditTable(table: SimulatedTable, store: Table): Promise<Difference[]> {
  const books = createBooksReader(atRestStore(table, store));
  const told = new Map<string, readonly Difference[]>();
  let states = new Map<string, string>();
  let part: AuditedPart = { progress: noProgress, isFinished: false, unfinished: [] };
  for (let questions = firstQuestions; !part.isFinished; questions += 1) {
    let asked = 0;
    const audit = {
      books,
      nowMillis: () => store.clock.now(),
      pause: () => Promise.resolve(),
      isTimeUp: () => {
        asked += 1;
        return asked > questions;
      },
      started: (account: string) => {
        const text = states.get(account);
        return Promise.resolve(text === undefined ? undefined : (JSON.parse(text) as LookState));
      },
      onAccount: (one: { account: string; differences: readonly Difference[] }) =>
        void told.set(one.account, one.differences),
    };
    part = await auditAccounts(audit, part.progress);
    states = new Map(part.unfinished.map(({ account, state }) => [account, JSON.stringify(state)]));
  }
  const found = [...told.values()].flat();
  for await (const accounts of books.accounts())
    for (const { id } of accounts)
      if (!told.has(id)) found.push({ account: id, what: 'audits', expected: 1, found: 0 });
  return found;
}

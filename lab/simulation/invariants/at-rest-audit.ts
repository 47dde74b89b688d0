/** Runs the audit over the table of a world, without delays or faults, in parts as the daily audit does. */
import {
  type AccountsAudit,
  auditAccounts,
  type AuditedPart,
  noProgress,
} from '../../../service/audit/audit-accounts.ts';
import { createBooksReader } from '../../../service/audit/books-reads.ts';
import type { Difference } from '../../../service/audit/books.ts';
import type { Closing } from '../../../service/audit/closings.ts';
import type { CheckState } from '../../../service/audit/check-account.ts';
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
/** A month that ended before the table came to rest can be closed a day later. */
const laterMillis = 86_400_000;

/** The differences, and the accounts over which no audit has passed: of a whole count, and from what it closed. */
export async function auditTable(table: SimulatedTable, store: Table): Promise<Difference[]> {
  const books = createBooksReader(atRestStore(table, store));
  const closed = new Map<string, Closing>();
  const closings = {
    read: (account: string): Promise<Closing[]> => Promise.resolve([closed.get(account) ?? []].flat()),
    write: (account: string, closing: Closing): Promise<void> =>
      Promise.resolve(void closed.set(account, closing)),
  };
  const nowMillis = (): number => store.clock.now() + laterMillis;
  const found = await inParts({ books, nowMillis, closings: { ...closings, use: 'compared' } });
  if (closed.size === 0) return found;
  return [...found, ...(await inParts({ books, nowMillis, closings: { ...closings, use: 'trusted' } }))];
}

async function inParts(
  audit: Pick<AccountsAudit, 'books' | 'closings' | 'nowMillis'>,
): Promise<Difference[]> {
  const told = new Map<string, readonly Difference[]>();
  let states = new Map<string, string>();
  let part: AuditedPart = { progress: noProgress, isFinished: false, unfinished: [] };
  for (let questions = firstQuestions; !part.isFinished; questions += 1) {
    let asked = 0;
    const run = {
      ...audit,
      pause: () => Promise.resolve(),
      isTimeUp: () => {
        asked += 1;
        return asked > questions;
      },
      started: (account: string) => {
        const text = states.get(account);
        return Promise.resolve(text === undefined ? undefined : (JSON.parse(text) as CheckState));
      },
      onAccount: (one: { account: string; differences: readonly Difference[] }) =>
        void told.set(one.account, one.differences),
    };
    part = await auditAccounts(run, part.progress);
    states = new Map(part.unfinished.map(({ account, state }) => [account, JSON.stringify(state)]));
  }
  const found = [...told.values()].flat();
  for await (const accounts of audit.books.accounts())
    for (const { id } of accounts)
      if (!told.has(id)) found.push({ account: id, what: 'audits', expected: 1, found: 0 });
  return found;
}

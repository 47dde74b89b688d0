import { expect, it } from 'vitest';
import type { Table } from '../../adapters/dynamodb/table.ts';
import type { Item } from '../../local/dynamodb/attributes.ts';
import {
  createSimulatedTable,
  tableName,
  type SimulatedTable,
} from '../../simulation/aws/simulated-table.ts';
import { createArchive, shelfCount, type Archive } from '../../simulation/load/crowd/archive.ts';
import { auditCrowd, type CrowdAudit } from '../../simulation/load/crowd/audit-crowd.ts';
import { brokenCrowdPromises } from '../../simulation/load/crowd/crowd-promises.ts';
import { crowdPlan } from '../../simulation/load/crowd/crowd-plan.ts';
import { runCrowd } from '../../simulation/load/crowd/run-crowd.ts';
import { marshalItem } from '../../simulation/load/lean/plain-items.ts';
import { generateBooks } from '../../tools/audit-bench/generated-books.ts';

const size = { accounts: 3, creations: 600 };
const nowMillis = Date.UTC(2026, 10, 21);

/** Books whose creations and ledger rows are in the archive. `alter` changes an item on the way to it. */
function booksInArchive(
  wrong: number,
  alter: (item: Item) => Item | undefined = (item) => item,
): [SimulatedTable, Archive] {
  const books = generateBooks(size, wrong);
  const table = createSimulatedTable({ now: () => nowMillis, remembers: false });
  const archive = createArchive();
  const put = (...parts: readonly Readonly<Record<string, unknown>>[]): void =>
    void table.perform('PutItem', {
      TableName: tableName,
      Item: marshalItem(Object.assign({}, ...parts) as object as Record<string, unknown>),
    });
  for (let account = 0; account < size.accounts; account += 1) {
    const own = books.accountItem(account);
    const id = String(own['pk']).slice('ACCOUNT#'.length);
    const add = (item: Readonly<Record<string, unknown>>): void => {
      const altered = alter(marshalItem(item));
      if (altered) archive.add(id, altered);
    };
    put(own, books.accountListed(account));
    put(books.keyItem(account));
    for (let row = 0; row < books.rows(); row += 1) add(books.ledgerRow(account, row));
    for (let creation = 0; creation < books.creationsEach; creation += 1) {
      const listed = books.creationListed(account, creation);
      add({ ...books.creationItem(String(listed['listed'])), ...listed, accountId: id });
    }
  }
  return [table, archive];
}

function audit([table, archive]: [SimulatedTable, Archive]): Promise<CrowdAudit> {
  const store = { name: tableName, clock: { now: () => nowMillis, elapsed: () => 0 } } as unknown as Table;
  return auditCrowd(table, store, archive);
}

it('An archive gives each item back once, from the shelf of its account', () => {
  const archive = createArchive();
  const items = Array.from({ length: 2_000 }, (_, place): [string, Item] => [
    `account-${place % 9}`,
    {
      pk: { S: `ACCOUNT#account-${place % 9}` },
      sk: { S: `LEDGER#${place}` },
      text: { S: 'a line\nor two, ü 🖼'.repeat(40) },
    },
  ]);
  for (const [account, item] of items) archive.add(account, item);
  const given = Array.from({ length: shelfCount }, (_, shelf) => [...archive.itemsOn(shelf)]);
  const places = (all: readonly Item[]): number[] =>
    all.map(({ sk }) => Number(sk?.S?.slice('LEDGER#'.length))).sort((one, other) => one - other);
  expect(places(given.flat())).toEqual(items.map((_, place) => place));
  expect(given.flat()).toContainEqual(items[1_234]?.[1]);
  for (const [shelf, all] of given.entries())
    expect(all.every(({ pk }) => archive.shelfOf(pk?.S?.slice('ACCOUNT#'.length) ?? '') === shelf)).toBe(
      true,
    );
});

it('The audit of a crowd reads the whole archive, and finds right books right', async () => {
  const found = await audit(booksInArchive(-1));
  expect(found).toEqual({ accounts: 3, creations: 600, unpacked: 600 + 600 + 75 + 3, differences: [] });
});

it('The audit of a crowd finds a wrong cent in the balance of an account', async () => {
  const { differences } = await audit(booksInArchive(1));
  expect(differences).toHaveLength(1);
});

it('The audit of a crowd finds a row that the archive has lost', async () => {
  let rows = 0;
  const { differences } = await audit(
    booksInArchive(-1, (item) => (item['kind']?.S === 'charge' && (rows += 1) === 100 ? undefined : item)),
  );
  expect(differences.length).toBeGreaterThan(0);
});

it('What is at rest during a crowd is packed, and the audit reads it', async () => {
  const report = await runCrowd(
    crowdPlan({
      situation: 'crowd',
      perSecond: 2,
      vendor: 'synchronous',
      quotas: 'raised',
      renderSeconds: 3,
      lengthSeconds: 90,
      start: 'warm',
    }),
  );
  expect(brokenCrowdPromises(report)).toEqual([]);
  expect(report.audited).toMatchObject({ accounts: 20, creations: report.accepted });
  expect(report.audited.unpacked).toBeGreaterThan(100);
});

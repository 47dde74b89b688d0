import { describe, expect, it } from 'vitest';
import { defaultQuotas } from '../../../admin/preflight/quotas/quotas.ts';
import { createAwsAccount } from '../../../lab/simulation/aws/aws-account.ts';
import { awsQuotasOf } from '../../../lab/simulation/aws/quotas.ts';
import {
  createSimulatedTable,
  type SimulatedTable,
  tableName,
} from '../../../lab/simulation/aws/simulated-table.ts';
import { marshalItem } from '../../../lab/simulation/load/fast/fast-clients.ts';
import {
  type Archive,
  auditWithArchive,
  createArchive,
  createForgetter,
  type ArchiveAudit,
  shelfCount,
} from '../../../lab/simulation/load/scale/history.ts';
import { runScale } from '../../../lab/simulation/load/scale/run-scale.ts';
import { brokenScalePromises, scalePlan } from '../../../lab/simulation/load/scale/scale-measures.ts';
import type { Item } from '../../../local/dynamodb/attributes.ts';
import type { Table } from '../../../service/aws/dynamodb/table.ts';
import { uuidV7 } from '../../../service/values/ids.ts';

const nowMillis = Date.UTC(2026, 10, 21);
const accounts = ['Bench00000', 'Bench00001', 'Bench00002'];
const creationsEach = 200;
const costMicros = 40_000;
const openingMicros = 1_000_000_000;

type Plain = Readonly<Record<string, unknown>>;

/** The account with its key, and the ledger with its creations, of which every eighth was refunded after a second. */
function booksOf(account: string, wrongMicros: number): { readonly own: Plain[]; readonly rows: Plain[] } {
  const began = Date.UTC(2026, 9, 1);
  const timeOf = (millis: number): string => new Date(began + millis).toISOString();
  const pk = `ACCOUNT#${account}`;
  const month = '2026_10';
  const keyId = 'Key001';
  const rowOf = (kind: string, at: string, name: string, more: Plain): Plain => {
    return { pk, sk: `LEDGER#${at}#${kind}#${name}`, kind, at, ...more };
  };
  const rows = [rowOf('top_up', timeOf(-1), 'opening', { amountMicros: openingMicros })];
  let spentMicros = 0;
  for (let number = 0; number < creationsEach; number += 1) {
    const createdAt = timeOf(number * 2_000);
    const id = uuidV7(Date.parse(createdAt), new Uint8Array(16).fill(accounts.indexOf(account)));
    const isRefunded = number % 8 === 0;
    const refundedMicros = isRefunded ? costMicros : 0;
    const named = { creationId: id, keyId, month };
    rows.push(rowOf('charge', createdAt, id, { amountMicros: 0 - costMicros, ...named }));
    if (isRefunded)
      rows.push(rowOf('refund', timeOf(number * 2_000 + 1_000), id, { amountMicros: costMicros, ...named }));
    rows.push({
      ...{ pk: `CREATION#${id}`, sk: 'CREATION', listing: `CREATIONS#${account}`, listed: id },
      ...{ id, accountId: account, costMicros, refundedMicros, createdAt },
      status: isRefunded ? 'failed' : 'completed',
    });
    spentMicros += costMicros - refundedMicros;
  }
  const availableMicros = openingMicros - spentMicros + wrongMicros;
  const own = [
    {
      ...{ pk, sk: 'ACCOUNT', availableMicros, creditLineMicros: 0, inFlight: 0 },
      ...{ listing: 'ACCOUNTS', listed: `${timeOf(0)}#${account}` },
    },
    { pk, sk: `KEY#${keyId}`, id: keyId, name: 'server', [`spent_${month}`]: spentMicros },
  ];
  return { own, rows };
}

/**
 * Books whose creations and ledger rows are in the archive. `alter` changes an item on the way to it.
 * @param wrong the account whose balance is a cent too high
 */
function booksInArchive(
  wrong?: string,
  alter: (item: Item) => Item | undefined = (item) => item,
): [SimulatedTable, Archive] {
  const table = createSimulatedTable({ now: () => nowMillis, remembers: false });
  const archive = createArchive();
  for (const account of accounts) {
    const { own, rows } = booksOf(account, account === wrong ? 10_000 : 0);
    for (const item of own) table.perform('PutItem', { TableName: tableName, Item: marshalItem(item) });
    for (const row of rows) {
      const altered = alter(marshalItem(row));
      if (altered) archive.add(account, altered);
    }
  }
  return [table, archive];
}

function audit([table, archive]: [SimulatedTable, Archive]): Promise<ArchiveAudit> {
  const store = { name: tableName, clock: { now: () => nowMillis, elapsed: () => 0 } } as unknown as Table;
  return auditWithArchive(table, store, archive);
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

it('The audit of a load reads the whole archive, and finds no difference in right books', async () => {
  const found = await audit(booksInArchive());
  expect(found).toEqual({ accounts: 3, creations: 600, unpacked: 600 + 600 + 75 + 3, differences: [] });
});

it('The audit of a load finds a wrong cent in the balance of an account', async () => {
  const { differences } = await audit(booksInArchive(accounts[1]));
  expect(differences).toHaveLength(1);
});

it('The audit of a load finds a row that the archive has lost', async () => {
  let rows = 0;
  const { differences } = await audit(
    booksInArchive(undefined, (item) =>
      item['kind']?.S === 'charge' && (rows += 1) === 100 ? undefined : item,
    ),
  );
  expect(differences.length).toBeGreaterThan(0);
});

describe('What leaves the table of a load', () => {
  const account = 'Bench00000';
  const id = '01a1fdfa-c753-7860-9993-fe142b8714a7';
  const creationKey = { pk: `CREATION#${id}`, sk: 'CREATION' };
  const rowKey = { pk: `ACCOUNT#${account}`, sk: `LEDGER#2026-11-21T12:00:00.000Z#charge#${id}` };

  /** A table with one creation that has ended, its ledger row and its lease, and the forgetter of this table. */
  function endedCreation(
    creation: object,
    isAwaited: boolean,
  ): { left: () => string[]; packed: () => string[] } {
    let millis = nowMillis;
    const now = (): number => millis;
    const archive = createArchive();
    const aws = createAwsAccount(now, awsQuotasOf(defaultQuotas));
    const table: SimulatedTable = createSimulatedTable({
      now,
      remembers: false,
      onCommit: (changes) => forgetter.onCommit(changes),
    });
    aws.tableOf(table.get);
    const forgetter = createForgetter({
      now,
      table: () => table,
      account: aws,
      archive,
      isAwaited: () => isAwaited,
    });
    const put = (item: Readonly<Record<string, unknown>>): void =>
      void table.perform('PutItem', { TableName: tableName, Item: marshalItem(item) });
    const usual = { ...creationKey, id, accountId: account };
    put({ ...usual, status: 'processing', openShard: 'OPEN#1' });
    put({ ...rowKey, kind: 'charge', creationId: id });
    put({ pk: creationKey.pk, sk: 'LEASE' });
    put({ ...usual, ...creation });
    const kinds = (items: Iterable<Item>): string[] =>
      [...items].map(({ sk }) => sk?.S?.split('#')[0] ?? '').sort();
    return {
      left: () => {
        // Each sweep plans what is not at rest for a later one.
        for (let sweeps = 0; sweeps < 4; sweeps += 1) {
          millis += 60_000;
          forgetter.sweep();
        }
        return kinds(table.all());
      },
      packed: () => kinds(archive.itemsOn(archive.shelfOf(account))),
    };
  }

  it('is a creation that is over, with its ledger row and without its lease', () => {
    const { left, packed } = endedCreation({ status: 'completed' }, false);
    expect([left(), packed()]).toEqual([[], ['CREATION', 'LEDGER']]);
  });

  it.each([
    ['is polled', { status: 'completed' }, true],
    ['has an open webhook', { status: 'completed', openShard: 'WEBHOOK#1' }, false],
    ['is open', { status: 'processing', openShard: 'OPEN#1' }, false],
  ])('is never a creation that %s', (_what, creation, isAwaited) => {
    const { left, packed } = endedCreation(creation, isAwaited);
    expect([left(), packed()]).toEqual([['CREATION', 'LEASE', 'LEDGER'], []]);
  });
});

it('What is at rest during a load is packed, and the audit reads it', async () => {
  const report = await runScale(
    scalePlan({
      situation: 'crowd',
      perSecond: 2,
      vendor: 'synchronous',
      quotas: 'raised',
      renderSeconds: 3,
      lengthSeconds: 90,
      start: 'warm',
    }),
  );
  expect(brokenScalePromises(report)).toEqual([]);
  expect(report.audited).toMatchObject({ accounts: 20, creations: report.accepted });
  expect(report.audited.unpacked).toBeGreaterThan(100);
});

/** The wallet's ledger: the balance after each row while rows are written, and the files of a month. */
import { type DynamoDBDocumentClient, PutCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, it } from 'vitest';
import { createAccountStore } from '../../service/accounts/account-store.ts';
import { createWalletStore } from '../../service/accounts/wallet-store.ts';
import { keys, type Table } from '../../service/aws/dynamodb/table.ts';
import type { LedgerPage, LedgerView } from '../../service/contract/portal-views.ts';
import { createChargeStore } from '../../service/creations/charge-store.ts';
import { exportLedger, listLedger, monthsSince } from '../../service/portal/read/ledger.ts';
import { csvLine } from '../../service/values/csv.ts';
import { asMicros } from '../../service/values/money.ts';
import { accountId, aCreation, anApiKey, now } from '../fixtures/records.ts';
import { startMemory } from '../tables/engines.ts';
import { idOf, openStores, orderOf } from '../tables/facts.ts';
import { problemOf } from './portal-fixture.ts';
import { aCaller, ask } from './read-fixture.ts';

let table: Table;
beforeEach(async () => {
  table = await (await startMemory()).open();
  await openStores(table);
});

/** A charge of 0.04 USD at so many seconds before now. */
const chargeAt = async (number: number, secondsAgo: number): Promise<void> => {
  const at = now - secondsAgo * 1000;
  const order = orderOf(number, { nowMillis: at }, { createdAt: new Date(at).toISOString() });
  expect(await createChargeStore(table).charge(order)).toEqual({ kind: 'charged' });
};

async function page(query: Record<string, string> = {}, of = table): Promise<LedgerPage> {
  const account = await createAccountStore(table).read(accountId);
  if (!account) throw new Error('the account is gone');
  const answer = await ask(listLedger, { table: of, caller: aCaller(account) }, { query });
  return answer.body as LedgerPage;
}

/** Each balance is that after the row: the row before has it without the amount of this one. */
function expectBalanced(rows: readonly LedgerView[]): void {
  for (const [place, row] of rows.entries()) {
    const before = rows[place + 1]?.available ?? 0;
    expect(Math.round((row.available - before) * 1e6), `${row.at} ${row.kind}`).toBe(
      Math.round(row.amount * 1e6),
    );
  }
}

/** Calls `meanwhile` once, after the first call of this operation. */
function disturbed(operation: RegExp, meanwhile: () => Promise<void>): Table {
  let isDone = false;
  const client = new Proxy(table.client, {
    get: (target, name) =>
      name !== 'send'
        ? (Reflect.get(target, name) as unknown)
        : async (command: Parameters<DynamoDBDocumentClient['send']>[0]) => {
            const answer = await target.send(command);
            if (!isDone && operation.test(command.constructor.name)) {
              isDone = true;
              await meanwhile();
            }
            return answer;
          },
  });
  return { ...table, client };
}

describe('the ledger', () => {
  it('The newest row has the balance of now, and the oldest begins from zero', async () => {
    for (const number of [1, 2, 3]) await chargeAt(number, 100 - number);
    await createChargeStore(table).refund(aCreation({ id: idOf(2) }), {
      failure: 'GenerationFailed',
      nowMillis: now - 10_000,
      announce: false,
    });
    const { data, next_cursor: next, available, months } = await page();
    expect(data.map(({ kind }) => kind)).toEqual(['refund', 'charge', 'charge', 'charge', 'top_up']);
    expectBalanced(data);
    expect(data[0]).toMatchObject({
      available: 24.92,
      model: 'sandbox-standard',
      creation: idOf(2),
      key: anApiKey().id,
      key_name: anApiKey().name,
      note: null,
    });
    expect(data.at(-1)).toMatchObject({ available: 25, note: 'opening', creation: null, key_name: null });
    expect([next, available, months]).toEqual([null, 24.92, ['2026-11']]);
    const since = monthsSince('2026-09-30T23:59:59.999Z', Date.UTC(2026, 10, 1));
    expect(since).toEqual(['2026-11', '2026-10', '2026-09']);
  });

  it('Pages continue the balance, also when rows are written between them', async () => {
    for (let number = 1; number <= 8; number += 1) await chargeAt(number, 3_000 - number * 100);
    const rows: LedgerView[] = [];
    let cursor: string | null = null;
    for (let turn = 0; turn < 9; turn += 1) {
      const found: LedgerPage = await page({ limit: '3', ...(cursor !== null && { cursor }) });
      rows.push(...found.data);
      cursor = found.next_cursor;
      if (cursor === null) break;
      await chargeAt(20 + turn, 0);
    }
    expect(rows).toHaveLength(9);
    expectBalanced(rows);
  });

  it('A row that comes in below a page of the last minutes is counted: the balance is read anew', async () => {
    for (let number = 1; number <= 4; number += 1) await chargeAt(number, 100 - number * 10);
    const first = await page({ limit: '2' });
    await chargeAt(9, 95);
    const rest = await page({ limit: '10', cursor: first.next_cursor ?? '' });
    expectBalanced(rest.data);
    expect(rest.data.at(-1)).toMatchObject({ kind: 'top_up', available: 25 });
  });

  it.each(['QueryCommand', 'GetCommand'])(
    'Movements between the reads of a page (after %s) spoil no balance',
    async (operation) => {
      await chargeAt(1, 50);
      const table = disturbed(new RegExp(operation), async () => {
        await chargeAt(2, 40);
        await createWalletStore({ ...disturbedBase(), clock: clockAt(now - 30_000) }).topUp(
          accountId,
          asMicros(30_000),
          'other amount',
        );
      });
      const { data } = await page({}, table);
      expect(data).toHaveLength(4);
      expectBalanced(data);
    },
  );

  it.each([
    ['limit', '0'],
    ['limit', '101'],
    ['cursor', 'made-up'],
    ['cursor', Buffer.from('{"after":"KEY#x"}').toString('base64url')],
    [
      'cursor',
      Buffer.from('{"after":"LEDGER#2026-11-21T00:00:00.000Z#charge#x","availableMicros":"1"}').toString(
        'base64url',
      ),
    ],
  ])('%s=%s is refused with 400 that names it', async (name, value) => {
    const problem = await problemOf(page({ [name]: value }));
    expect(problem).toMatchObject({ status: 400, details: { errors: [{ field: name }] } });
  });

  const disturbedBase = (): Table => table;
  const clockAt = (at: number): Table['clock'] => ({ ...table.clock, now: () => at });
});

describe('the file of a month', () => {
  const file = (query: Record<string, string> = {}) => ask(exportLedger, { table }, { query });

  it('It has a header, six decimals, and no formula of a client', async () => {
    const order = orderOf(1, {}, { user: '=1+1' });
    await createChargeStore(table).charge(order);
    const { text, headers } = await file({ month: '2026-11' });
    expect((text ?? '').split('\r\n')).toEqual([
      'at,kind,amount,creation,key,model,user,note',
      '2026-11-21T11:00:30.000Z,top_up,25.000000,,,,,opening',
      `2026-11-21T12:00:30.000Z,charge,-0.040000,${idOf(1)},Key001,sandbox-standard,${csvLine(['=1+1'])},`,
      '',
    ]);
    expect(headers).toMatchObject({
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': 'attachment; filename="darkroom-ledger-2026-11.csv"',
    });
    expect(headers).not.toHaveProperty('x-next-cursor');
  });

  it('A month without rows has the header only, and rows of an older release get their model', async () => {
    expect((await file({ month: '2025-02' })).text).toBe('at,kind,amount,creation,key,model,user,note\r\n');
    await chargeAt(1, 10);
    const at = new Date(now - 10_000).toISOString();
    const key = keys.ledger(accountId, at, 'charge', idOf(1));
    const old = { ...key, kind: 'charge', amountMicros: -40_000, at, creationId: idOf(1) };
    await table.client.send(new PutCommand({ TableName: table.name, Item: old }));
    expect((await file()).text).toContain(`${idOf(1)},,sandbox-standard,,`);
  });

  it('A long month comes in parts below 5 MB, whose amounts are all there once', async () => {
    const rows = 1_500;
    const reason = '"'.repeat(1_000);
    for (let number = 0; number < rows; number += 1) {
      const at = new Date(Date.UTC(2026, 9, 1) + number * 1_000).toISOString();
      const row = { kind: 'adjustment', amountMicros: -1 - number, at, reason };
      const key = keys.ledger(accountId, at, 'adjustment', `a${number}`);
      await table.client.send(new PutCommand({ TableName: table.name, Item: { ...key, ...row } }));
    }
    const amounts: string[] = [];
    let [parts, cursor]: [number, string | undefined] = [0, undefined];
    do {
      const part: Awaited<ReturnType<typeof file>> = await file({
        month: '2026-10',
        ...(cursor !== undefined && { cursor }),
      });
      const lines = (part.text ?? '').split('\r\n').slice(cursor === undefined ? 1 : 0, -1);
      for (const line of lines) amounts.push(line.split(',')[2] ?? '');
      expect(Buffer.byteLength(JSON.stringify({ body: part.text }))).toBeLessThan(5_000_100);
      cursor = part.headers?.['x-next-cursor'];
      parts += 1;
    } while (cursor !== undefined);
    expect([amounts.length, new Set(amounts).size, parts]).toEqual([rows, rows, 2]);
  });

  it.each([
    ['month', '2026-13'],
    ['month', '2026-11-01'],
    ['cursor', Buffer.from('LEDGER#2026-10-21T00:00:00.000Z#charge#x').toString('base64url')],
    ['cursor', 'KEY'],
  ])('%s=%s is refused with 400 that names it', async (name, value) => {
    const problem = await problemOf(file({ [name]: value }));
    expect(problem).toMatchObject({ status: 400, details: { errors: [{ field: name }] } });
  });
});

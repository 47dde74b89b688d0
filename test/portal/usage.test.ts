/** Usage by the day of the charge: sums of days that are over, refunds that come late, and readers at once. */
import { asMicros } from '../../service/values/money.ts';
import { DeleteCommand, PutCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Table } from '../../service/aws/dynamodb/table.ts';
import type { UsageView } from '../../service/contract/portal-views.ts';
import { exportUsage, getUsage } from '../../service/portal/read/usage.ts';
import { usageView } from '../../service/portal/usage-view.ts';
import type { UsageDay } from '../../service/usage/day-sums.ts';
import { createUsageReads } from '../../service/usage/usage-store.ts';
import { accountId, now } from '../fixtures/records.ts';
import { startMemory } from '../tables/engines.ts';
import { openStores } from '../tables/facts.ts';
import { problemOf } from './portal-fixture.ts';
import { aCaller, ask } from './read-fixture.ts';

let table: Table;
let rows = 0;
beforeEach(async () => {
  table = await (await startMemory()).open();
  await openStores(table);
});

interface Row {
  readonly at: string;
  readonly kind?: 'charge' | 'refund';
  readonly chargedOn?: string;
  readonly user?: string;
  readonly key?: string;
}

/** A charge or a refund of 0.04 USD. */
async function write({ at, kind = 'charge', chargedOn, user, key = 'Key001' }: Row): Promise<void> {
  rows += 1;
  const item = {
    ...{ pk: `ACCOUNT#${accountId}`, sk: `LEDGER#${at}#${kind}#row-${rows}`, kind, at, keyId: key, user },
    ...{
      amountMicros: kind === 'charge' ? -40_000 : 40_000,
      model: 'one',
      creationId: `c${rows}`,
      chargedOn,
    },
  };
  await table.client.send(new PutCommand({ TableName: table.name, Item: item }));
}

const range = { from: '2026-11-10', to: '2026-11-21' };
const caller = aCaller();

async function usage(query: Record<string, string> = {}, nowMillis = now): Promise<UsageView> {
  const answer = await ask(
    getUsage,
    { table, caller: { ...caller, nowMillis } },
    { query: { ...range, ...query } },
  );
  return answer.body as UsageView;
}

const spentOf = ({ lines }: UsageView): unknown[] =>
  lines.map(({ group, creations, failed, spent }) => [group, creations, failed, spent]);

/** The sort keys of the stored sums that begin so. */
async function sums(beginning: string): Promise<string[]> {
  const query = {
    TableName: table.name,
    KeyConditionExpression: 'pk = :pk AND begins_with(sk, :sk)',
    ExpressionAttributeValues: { ':pk': `ACCOUNT#${accountId}`, ':sk': `USAGE#${beginning}` },
  };
  const { Items = [] } = await table.client.send(new QueryCommand(query));
  return Items.map(({ sk }) => String(sk));
}

describe('usage', () => {
  it('A refund after midnight counts on the day of its charge, in the ledger and in the sums', async () => {
    await write({ at: '2026-11-12T23:59:59.000Z' });
    await write({ at: '2026-11-13T00:00:03.000Z', kind: 'refund', chargedOn: '2026-11-12' });
    await write({ at: '2026-11-13T09:00:00.000Z' });
    const expected = [
      ['2026-11-12', 1, 1, 0],
      ['2026-11-13', 1, 0, 0.04],
    ];
    expect(spentOf(await usage())).toEqual(expected);
    expect(await sums('day#2026-11-13')).toHaveLength(1);
    expect(spentOf(await usage())).toEqual(expected);
  });

  it('A refund that comes weeks after the day was summed still counts there, by every dimension', async () => {
    await write({ at: '2026-11-11T09:00:00.000Z', user: 'ann' });
    expect((await usage()).total).toMatchObject({ spent: 0.04, failed: 0 });
    const weeksLater = Date.UTC(2026, 11, 24, 12);
    const at = '2026-12-20T09:00:00.000Z';
    await write({ at, kind: 'refund', chargedOn: '2026-11-11', user: 'ann' });
    for (const time of [weeksLater, weeksLater])
      for (const by of ['day', 'key', 'model', 'user'])
        expect((await usage({ by }, time)).lines, by).toMatchObject([
          { group: { day: '2026-11-11', key: 'Key001', model: 'one', user: 'ann' }[by], spent: 0, failed: 1 },
        ]);
    expect(spentOf(await usage({ from: '2026-12-01', to: '2026-12-24' }, weeksLater))).toEqual([]);
  });

  it('A day is summed an hour after its end, and a row of the day before that still counts', async () => {
    await write({ at: '2026-11-20T23:59:00.000Z' });
    const soon = Date.UTC(2026, 10, 21, 0, 59);
    expect((await usage({}, soon)).total.creations).toBe(1);
    expect(await sums('day#2026-11-20')).toEqual([]);
    await write({ at: '2026-11-20T23:59:30.000Z' });
    expect((await usage({}, soon + 60_000)).total.creations).toBe(2);
    expect(await sums('day#2026-11-20')).toHaveLength(1);
  });

  it('Two readers at once see and store the same', async () => {
    for (let day = 10; day < 20; day += 1)
      await write({ at: `2026-11-${day}T12:00:00.000Z`, user: `u${day}` });
    const [one, other] = await Promise.all([usage({ by: 'user' }), usage({ by: 'key' })]);
    expect([one.total, other.total]).toEqual([other.total, one.total]);
    expect((await usage({ by: 'user' })).lines).toEqual(one.lines);
  });

  it('A half-written set of pages is never read as whole: the day is summed anew', async () => {
    // Random texts of the longest users do not fit one page together.
    const user = (number: number): string => String.fromCodePoint(0x1_0000 + number).repeat(64);
    for (let number = 0; number < 1_100; number += 1)
      await write({ at: '2026-11-12T12:00:00.000Z', user: user(number) });
    const whole = await usage({ by: 'user' });
    const pages = await sums('user#2026-11-12');
    expect(pages.length).toBeGreaterThan(1);
    const key = { pk: `ACCOUNT#${accountId}`, sk: pages.at(-1) };
    await table.client.send(new DeleteCommand({ TableName: table.name, Key: key }));
    expect((await usage({ by: 'user' })).total).toEqual(whole.total);
    expect(await sums('user#2026-11-12')).toEqual(pages);
  });

  it('What names nobody is a group of its own, and keys have names', async () => {
    await write({ at: '2026-11-21T09:00:00.000Z' });
    await write({ at: '2026-11-21T09:00:01.000Z', user: 'null', key: 'portal' });
    expect(spentOf(await usage({ by: 'user' }))).toEqual(
      expect.arrayContaining([
        [null, 1, 0, 0.04],
        ['null', 1, 0, 0.04],
      ]),
    );
    const { lines, days } = await usage({ by: 'key' });
    expect(lines.map(({ name }) => name).sort()).toEqual(['Playground', 'server']);
    expect(days).toHaveLength(12);
    expect(days.at(-1)).toEqual({ day: '2026-11-21', spent: { Key001: 0.04, portal: 0.04 } });
  });

  it('The file has every line, and no formula of a client', async () => {
    await write({ at: '2026-11-21T09:00:00.000Z', user: '=2+2' });
    const { text } = await ask(exportUsage, { table }, { query: { ...range, by: 'user' } });
    expect(text).toBe(
      "user,creations,failed,charged,refunded,spent\r\n'=2+2,1,0,0.040000,0.000000,0.040000\r\n",
    );
  });

  it('Days before the account and days ahead are empty', async () => {
    await write({ at: '2026-11-21T09:00:00.000Z' });
    expect((await usage({ from: '2025-12-01', to: '2026-10-20' })).total.creations).toBe(0);
    expect((await usage({ from: '2026-11-20', to: '2027-01-31' })).total.creations).toBe(1);
    expect(await sums('day#2025')).toEqual([]);
  });

  it.each([
    [{ from: '2026-02-30' }, 'from'],
    [{ to: 'today' }, 'to'],
    [{ from: '2026-11-22', to: '2026-11-21' }, 'from'],
    [{ from: '2025-11-20', to: '2026-11-21' }, 'from'],
    [{ by: 'provider' }, 'by'],
  ])('%j is refused with 400 that names it', async (query, field) => {
    const problem = await problemOf(usage(query));
    expect(problem).toMatchObject({ status: 400, details: { errors: [{ field }] } });
  });

  it('A year of 366 days is not too long', async () => {
    expect((await usage({ from: '2025-11-21', to: '2026-11-21' })).days).toHaveLength(366);
  });
});

describe('the view of usage', () => {
  const sum = { creations: 1, failed: 0, chargedMicros: 10, refundedMicros: 0 };
  const shown = (count: number) => {
    const groups = new Map(
      Array.from({ length: count }, (_, number): [string, typeof sum] => [
        `user-${number}`,
        { ...sum, chargedMicros: 1_000 - number },
      ]),
    );
    const days: readonly UsageDay[] = [{ day: '2026-11-21', groups }];
    return { range: { from: '2026-11-21', to: '2026-11-21' }, by: 'user' as const, days };
  };
  const took = (seconds: number, status: 'completed' | 'failed' | 'queued' = 'completed') => ({
    status,
    createdAt: new Date(now).toISOString(),
    completedAt: new Date(now + seconds * 1000).toISOString(),
  });

  const budget = { monthly_budget: null, version: '' };
  const month = { spentMicros: asMicros(0), forecastMicros: undefined, budget };

  it('The chart has the seven largest groups, and all others are one', () => {
    const [day] = usageView(shown(9), [], month).days;
    expect(Object.keys(day?.spent ?? {})).toEqual([
      ...Array.from({ length: 7 }, (_, number) => `user-${number}`),
      'other',
    ]);
    expect(day?.spent['other']).toBe((993 + 992) / 1e6);
  });

  it('The page has the largest thousand lines, and the total has all', () => {
    const view = usageView(shown(1_200), [], month);
    expect([view.lines.length, view.lines_left_out, view.total.creations]).toEqual([1_000, 200, 1_200]);
    expect(usageView(shown(3), [], month)).not.toHaveProperty('lines_left_out');
  });

  it('Times are those of completed creations, and the rate leaves out what is open', () => {
    const sample = [
      ...Array.from({ length: 19 }, (_, second) => took(second + 1)),
      took(600, 'failed'),
      took(0, 'queued'),
    ];
    const { seconds, success_rate: rate } = usageView(shown(1), sample, month);
    expect([seconds, rate]).toEqual([{ p50: 10, p95: 19, of: 19 }, 0.95]);
    expect(usageView(shown(1), [took(0, 'queued')], month)).toMatchObject({
      seconds: null,
      success_rate: null,
    });
  });
});

describe('the newest creations of some days', () => {
  it('They begin and end with the days, and are so many at most', async () => {
    const ids = [
      '2026-11-19T23:59:59.999Z',
      '2026-11-20T00:00:00.000Z',
      '2026-11-20T23:59:59.999Z',
      '2026-11-21T00:00:00.000Z',
    ];
    for (const at of ids) {
      const time = Date.parse(at).toString(16).padStart(12, '0');
      const id = `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-000000000000`;
      const item = { pk: `CREATION#${id}`, sk: 'CREATION', listing: `CREATIONS#${accountId}`, listed: id };
      await table.client.send(
        new PutCommand({ TableName: table.name, Item: { ...item, id, createdAt: at, status: 'queued' } }),
      );
    }
    const newest = (limit: number) =>
      createUsageReads(table).newest(accountId, { from: '2026-11-20', to: '2026-11-20' }, limit);
    expect((await newest(10)).map(({ createdAt }) => createdAt).sort()).toEqual(ids.slice(1, 3));
    expect((await newest(1)).map(({ createdAt }) => createdAt)).toEqual(ids.slice(2, 3));
  });
});

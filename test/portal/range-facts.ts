/** Ranges of days and of times, on draws of now, of both ends, and of the day on which the account was opened. */
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import fc from 'fast-check';
import { beforeAll, expect, it } from 'vitest';
import type { Table } from '../../service/aws/dynamodb/table.ts';
import type { UsageView } from '../../service/contract/portal-views.ts';
import { creationToItem } from '../../service/creations/creation-items.ts';
import { listPortalCreations } from '../../service/portal/read/creations.ts';
import { getHome } from '../../service/portal/read/home.ts';
import { exportLedger } from '../../service/portal/read/ledger.ts';
import { daysOf, parametersOf } from '../../service/operated/parameters.ts';
import { exportUsage, getUsage } from '../../service/portal/read/usage.ts';
import { readBookedRows } from '../../service/usage/booked-row-reads.ts';
import { type AccountId, type CreationId, uuidV7 } from '../../service/values/ids.ts';
import { createDeliveryReads } from '../../service/webhooks/delivery-reads.ts';
import { createDeliveryStore } from '../../service/webhooks/delivery-store.ts';
import { collect } from '../fixtures/values.ts';
import { aCreation, anAccount, seededBytes } from '../fixtures/records.ts';
import { startMemory } from '../tables/engines.ts';
import { problemOf } from './portal-fixture.ts';
import { aCaller, ask } from './read-fixture.ts';

const [hour, day] = [3_600_000, 86_400_000];
const dayOf = (millis: number): string => new Date(millis).toISOString().slice(0, 10);

let table: Table;
beforeAll(async () => {
  table = await (await startMemory()).open();
});

/** Days at the ends of months and of years, and others. */
const midnights = fc
  .oneof(
    fc.constantFrom('2024-02-29', '2024-03-01', '2026-02-28', '2026-11-30', '2026-12-01', '2026-12-31'),
    fc.integer({ min: 0, max: 3_000 }).map((days) => dayOf(Date.UTC(2020, 0, 1 + days))),
  )
  .map(Date.parse);
/** Moments of a day, most of them beside midnight or beside the hour after it. */
const ofDay = fc.oneof(
  fc.constantFrom(0, 1, hour - 1, hour, hour + 1, day - 1),
  fc.integer({ min: 0, max: day - 1 }),
);
const nearby = fc.integer({ min: -3, max: 3 });
const drawn = fc.record({
  now: fc.tuple(midnights, ofDay).map(([midnight, millis]) => midnight + millis),
  /** In days from now, like the ends of the range. The clock that opened the account may be ahead. */
  opened: fc.integer({ min: -3, max: 2 }),
  from: fc.option(fc.oneof(nearby, fc.integer({ min: -40, max: 40 })), { nil: undefined }),
  to: fc.option(fc.oneof(nearby, fc.integer({ min: -40, max: 40 })), { nil: undefined }),
  cursor: fc.option(nearby, { nil: undefined }),
});

let accounts = 0;
function nextAccount(createdAt: string): ReturnType<typeof anAccount> {
  accounts += 1;
  return anAccount({ id: `Acc${String(accounts).padStart(7, '0')}` as AccountId, createdAt });
}

/** A charge at the opening of the account, one now, and one as the day began. Gives their days. */
async function charge(account: AccountId, opened: number, now: number): Promise<string[]> {
  const times = [opened, now - (now % day), now].filter((at) => at <= now && at >= opened);
  for (const [place, at] of times.map((millis) => new Date(millis).toISOString()).entries()) {
    const row = { kind: 'charge', at, keyId: 'Key001', amountMicros: -40_000, model: 'one', creationId: 'c' };
    const key = { pk: `ACCOUNT#${account}`, sk: `LEDGER#${at}#charge#${place}` };
    await table.client.send(new PutCommand({ TableName: table.name, Item: { ...key, ...row } }));
  }
  return times.map(dayOf);
}

/** The facts, each on as many draws. The same seed draws the same. */
export function provesRanges(draws: number, seed: number): void {
  it('Usage, its file and the operator’s figures count the charges of the range, and nothing is a 500', async () => {
    const property = fc.asyncProperty(drawn, async (draw) => {
      const { now, opened } = draw;
      const account = nextAccount(new Date(now + opened * day).toISOString());
      const caller = aCaller(account, { nowMillis: now });
      const charged = await charge(account.id, now + opened * day, now);
      const query = {
        ...(draw.from !== undefined && { from: dayOf(now + draw.from * day) }),
        ...(draw.to !== undefined && { to: dayOf(now + draw.to * day) }),
      };
      const to = query.to ?? dayOf(now);
      const from = query.from ?? dayOf(Date.parse(to) - 29 * day);
      const asked = [{ table, caller }, { query }] as const;
      if (from > to) {
        const problem = await problemOf(ask(getUsage, ...asked));
        expect(problem).toMatchObject({ status: 400, details: { errors: [{ field: 'from' }] } });
        return;
      }
      const wanted = charged.filter((one) => one >= from && one <= to);
      const { total, days } = (await ask(getUsage, ...asked)).body as UsageView;
      expect([total.creations, days.length]).toEqual([
        wanted.length,
        (Date.parse(to) - Date.parse(from)) / day + 1,
      ]);
      const { text = '' } = await ask(exportUsage, ...asked);
      expect(text.split('\r\n')).toHaveLength(2 + new Set(wanted).size);
      const range = daysOf(parametersOf({ query }), now);
      const booked = await collect(readBookedRows(table, account.id, range));
      expect(booked.flat()).toHaveLength(wanted.length);
    });
    await fc.assert(property, { numRuns: draws, seed });
  });

  it('Lists by day, by month and since a moment answer, whatever their cursor names', async () => {
    const property = fc.asyncProperty(drawn, async ({ now, opened, from = 0, cursor }) => {
      const account = nextAccount(new Date(now + opened * day).toISOString());
      const caller = aCaller(account, { nowMillis: now });
      const named = dayOf(now + from * day);
      const id = uuidV7(now, seededBytes(16)) as CreationId;
      const creation = creationToItem(aCreation({ id, accountId: account.id }));
      await table.client.send(new PutCommand({ TableName: table.name, Item: creation }));
      const before = cursor === undefined ? {} : { cursor: uuidV7(now + cursor * day, seededBytes(16)) };
      const query = { day: named, ...before };
      const listed = await ask(listPortalCreations, { table, caller }, { query });
      const isListed = from === 0 && (cursor === undefined || cursor > 0);
      expect((listed.body as { data: unknown[] }).data).toHaveLength(isListed ? 1 : 0);
      const { text } = await ask(exportLedger, { table, caller }, { query: { month: named.slice(0, 7) } });
      expect(text).toBe('at,kind,amount,creation,key,model,user,note\r\n');
      const since = now + from * day;
      expect(await createDeliveryReads(table).since(account.id, since)).toEqual([]);
      expect((await collect(createDeliveryStore(table).lastAttemptsSince(account.id, since))).flat()).toEqual(
        [],
      );
      expect((await ask(getHome, { table, caller })).status).toBe(200);
    });
    await fc.assert(property, { numRuns: Math.ceil(draws / 10), seed });
  });
}

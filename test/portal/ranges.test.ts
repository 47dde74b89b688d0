/** Ranges that are cut at both ends, on some draws. ranges-long.test.ts has more of them. */
import { beforeAll, describe, expect, it } from 'vitest';
import type { Table } from '../../service/aws/dynamodb/table.ts';
import { listPortalCreations } from '../../service/portal/read/creations.ts';
import { exportLedger } from '../../service/portal/read/ledger.ts';
import { getUsage } from '../../service/portal/read/usage.ts';
import { startMemory } from '../tables/engines.ts';
import { problemOf } from './portal-fixture.ts';
import { provesRanges } from './range-facts.ts';
import { ask } from './read-fixture.ts';

describe('drawn ranges', () => {
  provesRanges(200, 1);
});

describe('the ends of the calendar', () => {
  let table: Table;
  beforeAll(async () => {
    table = await (await startMemory()).open();
  });

  it.each(['0000-01-05', '1969-12-31', '9999-12-31'])('%s is no day of a range', async (named) => {
    for (const query of [{ to: named }, { from: named, to: named }])
      expect(await problemOf(ask(getUsage, { table }, { query }))).toMatchObject({ status: 400 });
    expect(await problemOf(ask(listPortalCreations, { table }, { query: { day: named } }))).toMatchObject({
      status: 400,
    });
  });

  it('The last month of the calendar is empty, and a cursor of a day that does not exist is refused', async () => {
    const cursor = Buffer.from('LEDGER#2026-11-00T00:00:00.000Z#charge#c').toString('base64url');
    expect((await ask(exportLedger, { table }, { query: { month: '9999-12' } })).status).toBe(200);
    expect(
      await problemOf(ask(exportLedger, { table }, { query: { month: '2026-11', cursor } })),
    ).toMatchObject({ status: 400, details: { errors: [{ field: 'cursor' }] } });
  });
});

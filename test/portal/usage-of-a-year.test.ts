/** The usage of a year with 100,000 rows of the ledger: its reads, its time and its sums. */
import { beforeAll, describe, expect, it } from 'vitest';
import { createUsageReads } from '../../adapters/dynamodb/portal/usage-store.ts';
import { noUsage, plus } from '../../core/portal/day-sums.ts';
import type { UsageDay } from '../../core/portal/day-sums.ts';
import { accountId } from '../fixtures/records.ts';
import { generateYear, yearNow, type Year } from './generated-year.ts';

const range = { from: '2025-11-22', to: '2026-11-21' };
let year: Year;
beforeAll(() => {
  const t = performance.now();
  year = generateYear();
async function usage(by: 'day' | 'key' | 'model' | 'user'): Promise<readonly UsageDay[]> {
  return createUsageReads(year.table).days(accountId, {
    ...range,
    by,
    since: range.from,
    nowMillis: yearNow,
  });
}
describe('x', () => {
  it('y', async () => {
    for (const by of ['user', 'user', 'key', 'day', 'model'] as const) {
      year.calls.clear();
      const t = performance.now();
      const c = process.cpuUsage();
      const days = await usage(by);
      const total = days.flatMap(({ groups }) => [...groups.values()]).reduce(plus, noUsage);
      expect(total).toEqual({
        creations: year.expected.charges,
        failed: year.expected.failed,
        chargedMicros: year.expected.chargedMicros,
        refundedMicros: year.expected.refundedMicros,
      });
    }
  });
});

/** A year with 100,000 rows of the ledger: what its pages read, and what they show. */
import { beforeAll, describe, expect, it } from 'vitest';
import { generateYear, type Year } from './generated-year.ts';
import { callerOf, micros, usageOf, expectSameSums } from './same-sums.ts';

let year: Year;
let here: ReturnType<typeof callerOf>;
beforeAll(() => {
  year = generateYear(100_000, false);
  here = callerOf(year);
});

/** Reads, with the one of the frame. */
async function readsOf(work: () => Promise<unknown>): Promise<number> {
  year.calls.clear();
  await work();
  const writes = year.calls.get('BatchWriteItem') ?? 0;
  return 1 + [...year.calls.values()].reduce((sum, count) => sum + count, 0) - writes;
}

describe('a year with 100,000 rows of the ledger', () => {
  it('The first visit reads at most sixty times, and every later one at most ten', async () => {
    expect(year.expected.rows).toBeGreaterThan(99_900);
    expect(await readsOf(() => usageOf(here, 'user'))).toBeLessThanOrEqual(60);
    for (const by of ['user', 'key', 'model', 'day'])
      expect(await readsOf(() => usageOf(here, by)), by).toBeLessThanOrEqual(10);
  });

  it('Usage has the sums of every day, key, model and user', async () => {
    const { expected } = year;
    for (const by of ['day', 'key', 'model', 'user'] as const) {
      const { lines, total } = await usageOf(here, by);
      expect([total.creations, total.failed, micros(total.charged), micros(total.refunded)], by).toEqual([
        expected.charges,
        expected.failed,
        expected.chargedMicros,
        expected.refundedMicros,
      ]);
      const sums = new Map(lines.map(({ group, spent }) => [group ?? '-', micros(spent)]));
      const wanted = by === 'day' ? expected.spentOn : groupsBehind(`${by} `, expected.spentBy);
      expect(sums, by).toEqual(wanted);
    }
  });
});

function groupsBehind(prefix: string, sums: ReadonlyMap<string, number>): Map<string, number> {
  return new Map(
    [...sums].flatMap(([name, sum]) => (name.startsWith(prefix) ? [[name.slice(prefix.length), sum]] : [])),
  );
}

it('Home, wallet, usage, the files and the audit show the same sums of 100,000 rows', async () => {
  const year = generateYear();
  expect(year.expected.rows).toBeGreaterThan(99_900);
  await expectSameSums(year);
});

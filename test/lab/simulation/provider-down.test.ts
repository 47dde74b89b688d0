import { expect, it } from 'vitest';
import { brokenPromises, leastMinutes, providerDown } from '../../../lab/simulation/load/measures.ts';
import { runLoad } from '../../../lab/simulation/load/run-load.ts';

it.each(['refuses', 'hangs'] as const)(
  'Ten minutes without a provider (%s): one creation in a hundred feels it after 30 s, and the traffic is back in two minutes',
  { timeout: 600_000 },
  async (way) => {
    const report = await runLoad(providerDown(way, 3, leastMinutes));
    expect(brokenPromises(report)).toEqual([]);
    expect(report.accepted).toBeGreaterThan(2_300);
    // The outage was felt at first, so that the promise says something.
    expect(report.halfMinutes.reduce((sum, { felt }) => sum + felt, 0)).toBeGreaterThan(
      report.later.felt + 5,
    );
  },
);

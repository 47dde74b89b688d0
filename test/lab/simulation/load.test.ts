import { describe, expect, it } from 'vitest';
import {
  brokenPromises,
  type Followed,
  type LoadReport,
  providerDown,
  reportOf,
} from '../../../lab/simulation/load/measures.ts';
import { runLoad } from '../../../lab/simulation/load/run-load.ts';
import { arrivals } from '../../../lab/simulation/load/traffic.ts';

describe('the arrivals of a run of load', () => {
  it('Arrivals follow the rate of their moment, and the same seed gives the same arrivals', () => {
    const rate = (at: number): number => (at < 50_000 ? 100 : 10);
    const all = [...arrivals(1, rate, 100_000)];
    const early = all.filter((at) => at < 50_000).length;
    expect(early).toBeGreaterThan(4_700);
    expect(early).toBeLessThan(5_300);
    expect(all.length - early).toBeGreaterThan(420);
    expect(all.length - early).toBeLessThan(580);
    expect(all).toEqual([...arrivals(1, rate, 100_000)]);
    expect(all).not.toEqual([...arrivals(2, rate, 100_000)]);
  });
});

describe('the measures of a run of load', () => {
  const plan = { ...providerDown('refuses', 1, 14), beforeSeconds: 30, downSeconds: 60, afterSeconds: 60 };
  const counted = { refused: {}, differences: [] };
  const creation = (acceptedAt: number, more: Partial<Followed> = {}): Followed => ({
    acceptedAt,
    firstAsked: 'down',
    hasFelt: false,
    endedAt: acceptedAt + 10_000,
    isCompleted: true,
    ...more,
  });
  /** One creation in each second. `change` says what is different in a second. */
  const everySecond = (change: (second: number) => Partial<Followed>): Followed[] =>
    Array.from({ length: 150 }, (_, second) => creation(second * 1_000, change(second)));

  it('A creation counts in the half minute of its acceptance, and the first 30 s without the provider count apart', () => {
    const all = everySecond((second) => ({ hasFelt: second >= 55 && second < 62 }));
    const report = reportOf(plan, 'down', all, counted);
    expect(report.halfMinutes.map(({ felt }) => felt)).toEqual([0, 5, 2, 0, 0]);
    expect(report.halfMinutes[0]).toMatchObject({ fromSeconds: 0, accepted: 30, askedFirst: 30 });
    expect(report.halfMinutes[0]?.waitSeconds).toEqual([10, 10, 10]);
    expect(report.later).toEqual({ accepted: 30, felt: 2 });
  });

  it.each<[string, number, number, number]>([
    ['at once', 0, 0, 0],
    ['after 23 s', 90, 113, 30],
    ['never', 90, 150, Infinity],
  ])('The provider that has its traffic again %s is back after that time', (_when, from, to, seconds) => {
    const all = everySecond((second) => (second >= from && second < to ? { firstAsked: 'other' } : {}));
    expect(reportOf(plan, 'down', all, counted).backAfterSeconds).toBe(seconds);
  });

  it('Creations that failed, that are open, and that were refused are counted', () => {
    const all = [creation(0), creation(1, { isCompleted: false }), { acceptedAt: 2, hasFelt: false }];
    const report = reportOf(plan, 'down', all, { refused: { 503: 4 }, differences: ['one'] });
    expect(report).toMatchObject({
      accepted: 3,
      completed: 1,
      failed: 1,
      stillOpen: 1,
      refused: { 503: 4 },
      differences: ['one'],
    });
  });
});

describe('the promises about a provider that is down', () => {
  const kept: LoadReport = {
    plan: providerDown('hangs', 20, 20),
    accepted: 24_000,
    refused: {},
    completed: 24_000,
    failed: 0,
    stillOpen: 0,
    halfMinutes: [],
    later: { accepted: 10_000, felt: 100 },
    backAfterSeconds: 120,
    differences: [],
  };

  it.each<[string, Partial<LoadReport>]>([
    ['more than one creation in a hundred that felt it', { later: { accepted: 10_000, felt: 101 } }],
    ['no creation after the first 30 s', { later: { accepted: 0, felt: 0 } }],
    ['a provider that was back too late', { backAfterSeconds: 130 }],
    ['a failed creation', { failed: 1 }],
    ['an open creation', { stillOpen: 1 }],
    ['a refused request', { refused: { 503: 1 } }],
    ['a difference of the audit', { differences: ['a difference'] }],
  ])('A report with %s breaks a promise', (_what, change) => {
    expect(brokenPromises(kept)).toEqual([]);
    expect(brokenPromises({ ...kept, ...change })).toHaveLength(1);
  });
});

describe('a small run of load', () => {
  it('Creations leave a provider that hangs, come back to it, and all of them end', async () => {
    const report = await runLoad({
      ...providerDown('hangs', 2, 14),
      renderSeconds: [2, 6],
      beforeSeconds: 20,
      downSeconds: 60,
      afterSeconds: 50,
    });
    const { accepted, completed, halfMinutes, later, backAfterSeconds, refused, differences } = report;
    expect(accepted).toBeGreaterThan(200);
    expect({ completed, refused, differences }).toEqual({
      completed: accepted,
      refused: {},
      differences: [],
    });
    expect(halfMinutes.reduce((sum, { felt }) => sum + felt, 0)).toBeGreaterThan(10);
    // Probes alone ask a provider that is down.
    expect(later.accepted).toBeGreaterThan(40);
    expect(later.felt).toBeLessThanOrEqual(3);
    expect(backAfterSeconds).toBeLessThanOrEqual(40);
  });
});

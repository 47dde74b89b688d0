import { beforeAll, describe, expect, it } from 'vitest';
import type { OutageReport } from '../../../lab/simulation/messages.ts';
import { brokenPromises, simulateOutage, wholeOutage } from '../../../lab/simulation/runs/outage.ts';

/** The outage of full size, with a hundredth of its traffic and of its quota. */
const smallOutage = { ...wholeOutage, perSecond: 1, accounts: 5, startsPerSecond: 3, startBurst: 13 };

describe('ten minutes without StartExecution', () => {
  let report: OutageReport;
  beforeAll(async () => {
    report = await simulateOutage(smallOutage);
  }, 120_000);

  it('Every promise of recovery is kept, and the audit finds nothing', () => {
    expect(brokenPromises(report)).toEqual([]);
    expect(report).toMatchObject({ acceptedInOutage: 600, stillOpen: 0, differences: [] });
  });

  it('Creations that ran out of time during the outage are refunded', () => {
    expect(report.refunded).toBeGreaterThan(250);
    expect(report.latestOpenSeconds).toBeGreaterThan(10);
  });

  it('Creations that come after the outage do not wait for the backlog', () => {
    expect(Math.max(...report.ordinarySlowestSeconds)).toBeLessThan(20);
  });
});

describe('ten minutes in which Lambda has no room for any Task', () => {
  let report: OutageReport;
  beforeAll(async () => {
    report = await simulateOutage({ ...smallOutage, of: 'tasks', deadlineSeconds: 720 });
  }, 120_000);

  it('Every promise of recovery is kept, and the audit finds nothing', () => {
    expect(brokenPromises(report)).toEqual([]);
    expect(report).toMatchObject({ acceptedInOutage: 600, stillOpen: 0, differences: [] });
  });

  it('No creation is refunded, because each of them still has time when Lambda has room again', () => {
    expect(report.refunded).toBe(0);
    expect(report.openAtTheEnd).toBeGreaterThan(590);
  });
});

describe('the promises of recovery', () => {
  const kept: OutageReport = {
    accepted: 10,
    acceptedInOutage: 5,
    mostOpen: 5,
    latestOpenSeconds: 120,
    stillOpen: 0,
    refunded: 1,
    givenUp: 0,
    openAtTheEnd: 5,
    hadTime: 100,
    hadTimeCompleted: 95,
    ordinary: 3,
    ordinaryCompleted: 3,
    ordinarySlowestSeconds: [15, 15, 15, 15],
    differences: [],
  };

  it.each<[string, Partial<OutageReport>]>([
    ['an open creation', { stillOpen: 1 }],
    ['a creation that was open too long', { latestOpenSeconds: 120.1 }],
    ['a creation that was given up while it had time', { givenUp: 1 }],
    ['too few completed creations', { hadTimeCompleted: 94 }],
    ['no creation that had time', { hadTime: 0, hadTimeCompleted: 0 }],
    ['an ordinary creation that was not completed', { ordinaryCompleted: 2 }],
    ['a difference of the audit', { differences: ['a difference'] }],
  ])('A report with %s breaks a promise', (_what, change) => {
    expect(brokenPromises(kept)).toEqual([]);
    expect(brokenPromises({ ...kept, ...change })).toHaveLength(1);
  });
});

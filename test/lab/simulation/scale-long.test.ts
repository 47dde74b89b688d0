import { describe, expect, it } from 'vitest';
import { runScale } from '../../../lab/simulation/load/scale/run-scale.ts';
import {
  type AskedScale,
  brokenScalePromises,
  scalePlan,
  type ScalePlan,
  strangerRoutes,
  throttledBeside,
} from '../../../lab/simulation/load/scale/scale-measures.ts';

const usual: Omit<AskedScale, 'situation' | 'perSecond' | 'quotas' | 'lengthSeconds'> = {
  vendor: 'synchronous',
  renderSeconds: 15,
  start: 'warm',
};

it(
  'One account makes 20 creations a second, and fewer than one in a hundred gets 503',
  { timeout: 300_000 },
  async () => {
    const report = await runScale(
      scalePlan({ ...usual, situation: 'one-account', perSecond: 20, quotas: 'raised', lengthSeconds: 40 }),
    );
    expect(brokenScalePromises(report)).toEqual([]);
    expect(report.accepted).toBeGreaterThan(700);
  },
);

it(
  'A load of 100 creations a second with the quotas of docs/deploying.md is fully served',
  { timeout: 300_000 },
  async () => {
    const report = await runScale(
      scalePlan({ ...usual, situation: 'crowd', perSecond: 100, quotas: 'raised', lengthSeconds: 10 }),
    );
    expect(brokenScalePromises(report)).toEqual([]);
    expect(report).toMatchObject({ refused: {}, limits: [] });
    expect(report.accepted).toBeGreaterThan(900);
  },
);

it(
  'A full service has as many creations open as the setting says, within ten percent',
  { timeout: 300_000 },
  async () => {
    const report = await runScale(
      scalePlan({
        ...usual,
        situation: 'crowd',
        perSecond: 100,
        quotas: 'raised',
        lengthSeconds: 25,
        serviceCapacity: 1_000,
      }),
    );
    expect(brokenScalePromises(report)).toEqual([]);
    expect(report.refused['429 capacity']).toBeGreaterThan(100);
    expect(report.openShares?.[0]).toBeGreaterThan(0.9);
    expect(report.openShares?.[1]).toBeLessThan(1.1);
  },
);

describe('A stranger with a wrong key who sends 2,000 requests a second to one route', () => {
  const planOf = (route: (typeof strangerRoutes)[number]): ScalePlan =>
    scalePlan({
      ...usual,
      situation: 'stranger',
      stranger: { route, perSecond: 2_000 },
      perSecond: 5,
      quotas: 'default',
      lengthSeconds: 10,
    });

  it.each(strangerRoutes)(
    'who chooses %s uses up its throttle, and no request of 50 clients to another route gets 429',
    { timeout: 120_000 },
    async (route) => {
      const report = await runScale(planOf(route));
      expect(report.limits.map(({ limit }) => limit)).toEqual([`throttle of ${route}`]);
      expect(brokenScalePromises(report)).toEqual([]);
      expect(throttledBeside(report, route).of).toBeGreaterThan(50);
    },
  );

  it('keeps most clients out where only the stage has a throttle', { timeout: 120_000 }, async () => {
    const plan = planOf('unknown');
    const { route, ...aws } = plan.aws;
    const report = await runScale({ ...plan, aws: { ...aws, stage: route ?? aws.stage } });
    const { refused, of } = throttledBeside(report, 'unknown');
    expect(refused / of).toBeGreaterThan(0.5);
  });
});

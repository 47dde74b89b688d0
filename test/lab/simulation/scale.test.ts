import { expect, it } from 'vitest';
import { runScale } from '../../../lab/simulation/load/scale/run-scale.ts';
import {
  type AskedScale,
  brokenScalePromises,
  scalePlan,
  vendorKinds,
} from '../../../lab/simulation/load/scale/scale-measures.ts';

const small: AskedScale = {
  situation: 'crowd',
  perSecond: 6,
  vendor: 'synchronous',
  quotas: 'default',
  renderSeconds: 3,
  lengthSeconds: 4,
  start: 'cold',
};

it.each(vendorKinds)('A small load meets no limit, with a vendor of the kind %s', async (vendor) => {
  const report = await runScale(scalePlan({ ...small, vendor }));
  expect(brokenScalePromises(report)).toEqual([]);
  expect(report).toMatchObject({ refused: {}, failed: 0, limits: [] });
  expect(report.completed).toBe(report.accepted);
  expect(report.accepted).toBeGreaterThan(10);
});

it('What Lambda throttles is refused before the charge, or waits in its execution, and nothing is lost', async () => {
  const plan = scalePlan(small);
  const report = await runScale({ ...plan, aws: { ...plan.aws, concurrency: 150 + 6 } });
  expect(report.limits.map(({ limit }) => limit)).toEqual(['concurrency of the account']);
  expect(Object.keys(report.refused)).toEqual(['503 gateway']);
  expect(report.completed).toBe(report.accepted);
  expect(brokenScalePromises(report)).toEqual([]);
});

it('What the gateway refuses of the callbacks comes later, and nothing is lost', async () => {
  const plan = scalePlan({ ...small, vendor: 'job' });
  const report = await runScale({ ...plan, aws: { ...plan.aws, callbacks: { perSecond: 0.01, burst: 2 } } });
  expect(report.limits.map(({ limit }) => limit)).toEqual(['throttle of callback']);
  expect(report).toMatchObject({ refused: {}, failed: 0 });
  expect(report.completed).toBe(report.accepted);
  expect(brokenScalePromises(report)).toEqual([]);
});

it('What StartExecution throttles is charged once, and the reconciler starts it', async () => {
  const plan = scalePlan(small);
  const startExecution = { perSecond: 1, burst: 2 };
  const report = await runScale({
    ...plan,
    aws: { ...plan.aws, steps: { ...plan.aws.steps, startExecution } },
  });
  expect(report.limits.map(({ limit }) => limit)).toEqual(['StartExecution']);
  expect(report.startsUnclear).toBeGreaterThan(3);
  expect(report).toMatchObject({ refused: {}, failed: 0 });
  expect(report.completed).toBe(report.accepted);
  expect(brokenScalePromises(report)).toEqual([]);
});

import { expect, it } from 'vitest';
import { runCrowd } from '../../../lab/simulation/load/scale/run-scale.ts';
import {
  type AskedCrowd,
  brokenCrowdPromises,
  crowdPlan,
  vendorKinds,
} from '../../../lab/simulation/load/scale/scale-measures.ts';

const small: AskedCrowd = {
  situation: 'crowd',
  perSecond: 6,
  vendor: 'synchronous',
  quotas: 'default',
  renderSeconds: 3,
  lengthSeconds: 4,
  start: 'cold',
};

it.each(vendorKinds)('A small load meets no limit, with a vendor of the kind %s', async (vendor) => {
  const report = await runCrowd(crowdPlan({ ...small, vendor }));
  expect(brokenCrowdPromises(report)).toEqual([]);
  expect(report).toMatchObject({ refused: {}, failed: 0, limits: [] });
  expect(report.completed).toBe(report.accepted);
  expect(report.accepted).toBeGreaterThan(10);
});

it('What Lambda throttles is refused before the charge, or waits in its execution, and nothing is lost', async () => {
  const plan = crowdPlan(small);
  const report = await runCrowd({ ...plan, aws: { ...plan.aws, concurrency: 150 + 6 } });
  expect(report.limits.map(({ limit }) => limit)).toEqual(['concurrency of the account']);
  expect(Object.keys(report.refused)).toEqual(['503 gateway']);
  expect(report.completed).toBe(report.accepted);
  expect(brokenCrowdPromises(report)).toEqual([]);
});

it('What the gateway refuses of the callbacks comes later, and nothing is lost', async () => {
  const plan = crowdPlan({ ...small, vendor: 'job' });
  const report = await runCrowd({ ...plan, aws: { ...plan.aws, callbacks: { perSecond: 0.01, burst: 2 } } });
  expect(report.limits.map(({ limit }) => limit)).toEqual(['throttle of callback']);
  expect(report).toMatchObject({ refused: {}, failed: 0 });
  expect(report.completed).toBe(report.accepted);
  expect(brokenCrowdPromises(report)).toEqual([]);
});

it('What StartExecution throttles is charged once, and the reconciler starts it', async () => {
  const plan = crowdPlan(small);
  const startExecution = { perSecond: 1, burst: 2 };
  const report = await runCrowd({
    ...plan,
    aws: { ...plan.aws, steps: { ...plan.aws.steps, startExecution } },
  });
  expect(report.limits.map(({ limit }) => limit)).toEqual(['StartExecution']);
  expect(report.startsUnclear).toBeGreaterThan(3);
  expect(report).toMatchObject({ refused: {}, failed: 0 });
  expect(report.completed).toBe(report.accepted);
  expect(brokenCrowdPromises(report)).toEqual([]);
});

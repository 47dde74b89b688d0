import { afterAll, expect, it } from 'vitest';
import { exhaust } from '../../../lab/simulation/runs/exhaustive.ts';
import { createSimulator } from '../../../lab/simulation/runs/simulator.ts';

const simulator = await createSimulator();
afterAll(() => {
  simulator.end();
});

it('A fault strikes every call site, and no invariant breaks', { timeout: 240_000 }, async () => {
  const { reached, struck, failures } = await exhaust(simulator, { pairs: false, oneKind: true });
  expect(failures.map(({ faults, run: { violations } }) => ({ faults, violations }))).toEqual([]);
  expect([...reached].filter((site) => !struck.has(site))).toEqual([]);
  expect(reached.size).toBeGreaterThan(50);
});

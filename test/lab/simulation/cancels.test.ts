import { afterAll, expect, it } from 'vitest';
import { cancelsOf } from '../../../lab/simulation/clients/narrow-scenarios.ts';
import { createSimulator } from '../../../lab/simulation/runs/simulator.ts';

const simulator = await createSimulator();
afterAll(() => {
  simulator.end();
});

it(
  'A thousand cancels meet a thousand renderings at random moments: the books are clean, each answer is true, and no creation has two events',
  { timeout: 120_000 },
  async () => {
    const told = new Map<string, number>();
    const stops = new Set<string>();
    for (let seed = 0; seed < 10; seed += 1) {
      const { violations, answers, incidents, trace } = await simulator.run(cancelsOf(seed, 100));
      expect(violations, `seed ${seed}\n${trace.slice(-40).join('\n')}`).toEqual([]);
      for (const [answer, count] of answers) told.set(answer, (told.get(answer) ?? 0) + count);
      for (const name of incidents.keys()) stops.add(name);
    }
    expect(told.get('generate 202')).toBe(1_000);
    const [cancelled = 0, denied = 0] = [told.get('cancel 200'), told.get('cancel 400')];
    expect(cancelled + denied).toBe(1_000);
    // Both win often enough that the race is one.
    expect(Math.min(cancelled, denied)).toBeGreaterThan(200);
    for (const way of ['at once', 'soon', 'late', 'never']) expect(stops).toContain(`job stopped ${way}`);
  },
);

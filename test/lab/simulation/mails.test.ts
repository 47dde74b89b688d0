import { afterAll, expect, it } from 'vitest';
import { narrowScenarios } from '../../../lab/simulation/clients/narrow-scenarios.ts';
import { createSimulator } from '../../../lab/simulation/runs/simulator.ts';

const simulator = await createSimulator();
afterAll(() => {
  simulator.end();
});
/** Together they have what `seen` names. `npm run simulate -- --mails` plays more. */
const seeds = [7, 12, 33, 35];

const seen = ['Publish ok', 'Publish Throttled', 'Publish NotFound', 'DeleteTopic ok', 'restart'];

it(`No invariant breaks in ${seeds.length} seeds in which people get notices by e-mail`, async () => {
  const happened = new Set<string>();
  for (const seed of seeds) {
    const run = await simulator.run(narrowScenarios.mails(seed));
    expect(run.violations, `seed ${seed}\n${run.trace.slice(-40).join('\n')}`).toEqual([]);
    if (run.incidents.has('execution started again')) happened.add('restart');
    for (const line of run.trace) {
      const [, call = '', how = ''] = /sns\.(\w+) +(\w+)$/.exec(line) ?? [];
      if (call !== '') happened.add(`${call} ${how}`);
    }
  }
  expect([...happened]).toEqual(expect.arrayContaining(seen));
});

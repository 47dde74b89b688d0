import { afterAll, expect, it } from 'vitest';
import { flappingOf } from '../../../lab/simulation/clients/narrow-scenarios.ts';
import { createSimulator } from '../../../lab/simulation/runs/simulator.ts';

const simulator = await createSimulator();
afterAll(() => {
  simulator.end();
});
/** Together they have every weather, and circuits that open. `.ci/run` plays many more. */
const seeds = [0, 6, 7, 10, 14, 19];

it(`No invariant breaks in ${seeds.length} seeds in which providers go down and come back`, async () => {
  const weather = new Set<string>();
  let isAsked = 0;
  for (const seed of seeds) {
    const { violations, incidents, trace } = await simulator.run(flappingOf(seed));
    expect(violations, `seed ${seed}\n${trace.slice(-40).join('\n')}`).toEqual([]);
    for (const name of incidents.keys()) weather.add(name);
    isAsked += trace.filter((line) => line.includes('UpdateItem HEALTH SET probeAt')).length;
  }
  const kinds = ['up', 'refuses', 'unreachable', 'hangs', 'throttles', 'breaks', 'refuses_key'];
  expect([...weather]).toEqual(expect.arrayContaining(kinds.map((kind) => `provider ${kind}`)));
  // Circuits open, and creations probe their routes.
  expect(isAsked).toBeGreaterThan(3);
});

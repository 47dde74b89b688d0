import { afterAll, expect, it } from 'vitest';
import { narrowScenarios } from '../../../lab/simulation/clients/narrow-scenarios.ts';
import { createSimulator } from '../../../lab/simulation/runs/simulator.ts';

const simulator = await createSimulator();
afterAll(() => {
  simulator.end();
});
/** Together they have what `seen` names. `.ci/run` plays many more. */
const seeds = [0, 1, 2, 3, 6, 10, 16];

const seen = [
  'event of Stripe lost',
  'event of Stripe five times',
  'event of Stripe late',
  'FollowPayments twice at once',
];

it(`No invariant breaks in ${seeds.length} seeds in which money comes in through Stripe`, async () => {
  const incidents = new Set<string>();
  const settled = new Set<string>();
  for (const seed of seeds) {
    const run = await simulator.run(narrowScenarios.payments(seed));
    expect(run.violations, `seed ${seed}\n${run.trace.slice(-40).join('\n')}`).toEqual([]);
    for (const name of run.incidents.keys()) incidents.add(name);
    for (const line of run.trace) {
      const [, by = ''] = /Z ([a-z-]+)#\d+ .*ACCOUNT\+LEDGER\+PAYMENT.* ok$/.exec(line) ?? [];
      if (by !== '') settled.add(by);
    }
  }
  expect([...incidents]).toEqual(expect.arrayContaining(seen));
  // The event, the listing and the page after the payment.
  expect([...settled].sort()).toEqual(['follow-payments', 'portal-pay', 'receive-payment']);
});

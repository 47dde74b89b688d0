/** The scenario of `--flapping`: many creations whose providers go down and come back, alone or with faults. */
import { flappingRoutes } from '../network/flapping-providers.ts';
import { createDice, type Dice } from '../world/dice.ts';
import type { AccountPlan, Scenario, Submit } from './scenario.ts';

const startAt = Date.UTC(2026, 10, 21, 12, 0, 5);
const [first = '', ...others] = Object.keys(flappingRoutes);

function planOf(dice: Dice, name: string): AccountPlan {
  return {
    balanceMicros: 1_000_000_000,
    creditMicros: 0,
    maxConcurrent: 1_000,
    deadlineSeconds: dice.pick(name, [15, 40, 40, 140, 300]),
    postRate: 10_000,
    maxUnusedUploads: 100,
    secret: false,
    keys: [{}],
  };
}

/** The scenario of a seed. */
export function flappingOf(seed: number): Scenario {
  const dice = createDice(seed);
  const lengthMillis = dice.pick('length', [5_000, 30_000, 120_000]);
  const accounts = [planOf(dice, 'patience'), planOf(dice, 'other patience')];
  const submits = Array.from({ length: dice.between('submits', 4, 16) }, (_, index) =>
    flappingSubmit(dice, `flapping ${index}`, accounts.length, lengthMillis),
  );
  return {
    seed,
    startAt,
    accounts,
    steps: submits.sort((a, b) => a.at - b.at),
    routeOrder: dice.pick('route order', ['given', 'given', 'cheapest', 'fastest']),
    faultProbability: dice.pick('faults', [0, 0, 0.01, 0.05]),
    calmAfter: lengthMillis + 60_000,
    clockSpreadMillis: dice.pick('clocks', [0, 0, 300]),
    holdMillis: [3, 25],
    slowBucketMillis: 0,
  };
}

/** A request for a model whose providers flap. */
export function flappingSubmit(dice: Dice, name: string, accounts: number, lengthMillis: number): Submit {
  return {
    kind: 'submit',
    name,
    account: dice.between(`${name} account`, 0, accounts - 1),
    key: 0,
    // At each of four instants several come together: only there do two creations see the same probe.
    at: dice.chance(`${name} together`, 0.5)
      ? (dice.between(`${name} instant`, 1, 4) * lengthMillis) / 4 + dice.between(`${name} jitter`, 0, 4)
      : dice.between(`${name} at`, 500, lengthMillis),
    model: dice.pick(`${name} model`, [first, ...others]),
    resolution: '1K',
    directives: '',
    images: [],
    polls: 0,
    ...(dice.chance(`${name} for a user`, 0.85) && { user: `user ${dice.between(`${name} user`, 1, 2)}` }),
    ...(dice.chance(`${name} webhook`, 0.1) && { webhook: 'ok' as const }),
  };
}

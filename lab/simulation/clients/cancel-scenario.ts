/**
 * Many creations that end by themselves and are cancelled at random moments: before their start, at their first
 * attempt, while their job runs, at their end, and later. Nothing else goes wrong.
 */
import { callingModel } from '../network/calling-vendor.ts';
import { createDice, type Dice } from '../world/dice.ts';
import type { AccountPlan, Scenario, Submit } from './scenario.ts';

const accounts = 5;
const startAt = Date.UTC(2026, 10, 21, 12, 0, 5);
const plan: AccountPlan = {
  balanceMicros: 1_000_000_000,
  creditMicros: 0,
  maxConcurrent: 1_000,
  // Long enough that a job may wait for its callback.
  deadlineSeconds: 150,
  postRate: 10_000,
  maxUnusedUploads: 100,
  secret: true,
  keys: [{}],
};

/** The scenario of a seed, with the given number of creations. Each is cancelled once. */
export function cancelsOf(seed: number, creations: number): Scenario {
  const dice = createDice(seed);
  return {
    seed,
    startAt,
    accounts: Array.from({ length: accounts }, () => plan),
    steps: Array.from({ length: creations }, (_, index) => cancelledSubmit(dice, `submit ${index}`, index)),
    faultProbability: 0,
    calmAfter: 0,
    clockSpreadMillis: 0,
    holdMillis: [3, 25],
    slowBucketMillis: 0,
  };
}

function cancelledSubmit(dice: Dice, name: string, index: number): Submit {
  const asynchronous = { model: 'sandbox-standard', directives: '[sandbox:async=2s]' };
  const { model, directives, most } = dice.pick(`${name} kind`, [
    // Ends after some 200 ms.
    { model: 'sandbox-sketch', directives: '', most: 300 },
    { model: 'sandbox-sketch', directives: '[sandbox:delay=1s]', most: 1_500 },
    { ...asynchronous, most: 300 },
    { ...asynchronous, most: 3_000 },
    { model: callingModel, directives: '', most: 10_000 },
  ]);
  return {
    kind: 'submit',
    name,
    model,
    directives,
    account: index % accounts,
    key: 0,
    at: dice.between(`${name} at`, 1_000, 21_000),
    resolution: '1K',
    images: [],
    polls: 0,
    webhook: 'ok',
    cancelAfter: dice.between(`${name} cancelled after`, 0, most),
  };
}

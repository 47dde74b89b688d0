/** Draws the buckets of accounts, and what clients do with them. */
import type { Dice } from '../world/dice.ts';
import type { AccountPlan, BucketStep } from './scenario.ts';

/** Most accounts have a bucket from the beginning. Some change or remove it while copies are owed. */
export function bucketStepsOf(
  dice: Dice,
  accounts: readonly AccountPlan[],
  lengthMillis: number,
): BucketStep[] {
  const stepOf = (name: string, account: number, at: number, does: BucketStep['does']): BucketStep => ({
    kind: 'bucket',
    name,
    account,
    at,
    does,
    behaviour: dice.pick(`${name} behaves`, [
      'ok',
      'ok',
      'flaky',
      'broken',
      'silent',
      'forgets',
      'other',
      'sealed',
    ]),
  });
  const first = accounts.flatMap((_, index) =>
    dice.chance(`bucket ${index}`, 0.8) ? [stepOf(`bucket ${index}`, index, 0, 'set')] : [],
  );
  const later = Array.from({ length: dice.between('bucket steps', 0, 3) }, (_, index) => {
    const name = `bucket step ${index}`;
    const latest = dice.chance(`${name} late`, 0.5) ? lengthMillis + 1_200_000 : lengthMillis;
    return stepOf(
      name,
      dice.between(`${name} account`, 0, accounts.length - 1),
      dice.between(`${name} at`, 0, latest),
      dice.pick(`${name} does`, ['set', 'remove', 'again', 'again']),
    );
  });
  return [...first, ...later];
}

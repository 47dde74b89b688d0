/** Draws the deployments of a seed: which release is current, and from when on. */
import type { Release } from '../aws/releases.ts';
import type { Dice } from '../world/dice.ts';
import type { Step } from './scenario.ts';

const quarterHour = 900_000;

/** In a third of the seeds releases take turns, in the middle of everything. */
export function releasesOf(dice: Dice, lengthMillis: number): Step[] {
  if (!dice.chance('releases', 1 / 3)) return [];
  const count = dice.between('releases count', 2, 7);
  // The first two come early, so that there are creations of version 2.
  const moments = Array.from({ length: count }, (_, index) =>
    dice.between(
      `release ${index} at`,
      0,
      index < 2 ? lengthMillis / 2 : latestOf(dice, index, lengthMillis),
    ),
  ).sort((one, other) => one - other);
  const steps: Step[] = [];
  let release: Release = 'before';
  let hasWritten = false;
  for (const [index, at] of moments.entries()) {
    release = nextOf(dice, index, release, hasWritten);
    hasWritten ||= release === 'after';
    steps.push({ kind: 'deploy', account: 0, at, release });
  }
  const writesFrom = steps.find((step) => step.kind === 'deploy' && step.release === 'after')?.at;
  return writesFrom !== undefined && dice.chance('release back by two', 0.5)
    ? [...steps, ...mistakeOf(dice, writesFrom, lengthMillis)]
    : steps;
}

/** While the old release is current, people disturb the creations that it does not understand. */
function mistakeOf(dice: Dice, writesFrom: number, lengthMillis: number): Step[] {
  const at = writesFrom + dice.between('release back by two after', 500, lengthMillis);
  const forMillis = dice.pick('release back by two for', [5_000, 60_000, 300_000]);
  const meanwhile = Array.from({ length: 3 }, (_, index): Step => ({
    kind: dice.pick(`meanwhile ${index}`, ['abort', 'restart', 'redrive', 'operator_cancel']),
    account: 0,
    at: at + dice.between(`meanwhile ${index} at`, 1, 5_000),
  }));
  return [{ kind: 'roll_back_by_two', account: 0, at, forMillis }, ...meanwhile];
}

/** Most deployments come while clients send, and some while webhooks are repeated. */
function latestOf(dice: Dice, index: number, lengthMillis: number): number {
  return dice.chance(`release ${index} late`, 0.25) ? quarterHour : lengthMillis + 20_000;
}

/** Once version 2 was written, a rollback by one ends at the release that understands it. */
function nextOf(dice: Dice, index: number, release: Release, hasWritten: boolean): Release {
  if (release !== 'between') return 'between';
  return !hasWritten && dice.chance(`release ${index} back`, 0.15) ? 'before' : 'after';
}

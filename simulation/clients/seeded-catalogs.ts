/** Draws the changes of the operator's catalog. */
import type { Dice } from '../world/dice.ts';
import type { Step } from './scenario.ts';

/** One to three changes of prices, some of them at the same instant. */
export function catalogsOf(dice: Dice, lengthMillis: number): Step[] {
  const together = dice.chance('catalogs together', 0.2);
  return Array.from({ length: dice.between('catalogs', 1, 3) }, (_, index): Step => ({
    kind: 'catalog',
    account: 0,
    at: together ? 1_000 : dice.between(`catalog ${index} at`, 0, Math.floor(lengthMillis / 2)),
    addedMicros: dice.between(`catalog ${index} adds`, 1, 5) * 10_000,
  }));
}

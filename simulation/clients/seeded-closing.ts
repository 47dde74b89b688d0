/** Draws the times at which the operator closes the service and opens it again. */
import type { Dice } from '../world/dice.ts';
import type { Step } from './scenario.ts';

/** One close, and in most scenarios an opening after it. */
export function closingOf(dice: Dice, lengthMillis: number): Step[] {
  const closeAt = dice.between('close at', 0, Math.floor(lengthMillis / 2));
  const openAt = closeAt + dice.between('closed for', 500, lengthMillis);
  return [
    { kind: 'close_service', account: 0, at: closeAt },
    ...(dice.chance('opens again', 0.8)
      ? [{ kind: 'open_service', account: 0, at: openAt } satisfies Step]
      : []),
  ];
}

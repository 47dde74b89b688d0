import { Problem } from '../../core/problem.ts';
import type { RatePlace } from './caller.ts';
import { RateExceeded } from './problems.ts';

/** Counts a POST against the rate once its answer is decided, unless it was counted before. */
export async function countedPost<Answer>(place: RatePlace, run: () => Promise<Answer>): Promise<Answer> {
  try {
    const answer = await run();
    await place.take();
    return answer;
  } catch (error) {
    // When the table is busy or the answer broke, one more write would only add to the load.
    const isDecided = error instanceof Problem && !(error instanceof RateExceeded) && !isOverloaded(error);
    if (isDecided) await place.take();
    throw error;
  }
}

export function isOverloaded(problem: Problem): boolean {
  return problem.details['reason'] === 'overloaded';
}

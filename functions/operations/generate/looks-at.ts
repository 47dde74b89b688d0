/** A request that waits for its creations polls them at growing intervals. */
import { isTerminal, type CreationRecord } from '../../../core/creation.ts';
import type { ApiServices } from '../../services/api.ts';
import type { Creations } from './replay.ts';

const firstLookMillis = 150;

export interface Looking {
  /** Milliseconds of the request's time. The last poll is at that time. */
  readonly untilMillis: number;
  /** The pauses grow to this. */
  readonly longestLookMillis: number;
}

/** Whether all of them have ended. */
export function haveEnded(creations: Creations): boolean {
  return creations.every(({ status }) => isTerminal(status));
}

/**
 * The given creations, and after each poll the creations as they were read, in the same order. Ends when all
 * have ended, or when the time is over. Throws when a read fails.
 */
export async function* looksAt(
  creations: Creations,
  { untilMillis, longestLookMillis }: Looking,
  { clock, creations: reader, budget }: Pick<ApiServices, 'clock' | 'creations' | 'budget'>,
): AsyncGenerator<Creations> {
  const look = async (creation: CreationRecord): Promise<CreationRecord> =>
    isTerminal(creation.status) ? creation : ((await reader.read(creation.id)) ?? creation);
  let last = creations;
  yield last;
  for (let pause = firstLookMillis; !haveEnded(last); pause = Math.min(longestLookMillis, pause * 1.5)) {
    const [first, ...others] = last;
    last = await Promise.all([look(first), ...others.map(look)]);
    yield last;
    const left = untilMillis - budget.elapsed();
    if (haveEnded(last) || left <= 0) return;
    await clock.sleep(Math.min(pause, left), budget.signal);
  }
}

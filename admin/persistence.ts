/** Work that has to be done whatever stands in its way: a key that leaked has to be revoked. */
import { isPassing } from './passing-error.ts';
import type { OperatorServices } from './services.ts';

const firstPauseMillis = 200;
const longestPauseMillis = 5_000;
const tellEveryMillis = 5_000;

export interface Persistence {
  readonly services: Pick<OperatorServices, 'clock' | 'randomBytes'>;
  /** Prints a line for the person who waits. */
  readonly tell: (line: string) => void;
}

/**
 * Does the work again and again until it succeeds: while the table is busy, while there is no connection,
 * and when an answer was lost. So the work must be safe to repeat. Throws every error that does not pass.
 * @param what what is being tried, for the line of progress: "revoke the key"
 */
export async function persist<Result>(
  what: string,
  work: () => Promise<Result>,
  { services, tell }: Persistence,
): Promise<Result> {
  const { clock, randomBytes } = services;
  const began = clock.elapsed();
  let toldAt = -Infinity;
  for (let attempt = 1; ; attempt += 1) {
    try {
      const result = await work();
      if (attempt > 1) tell(`Try ${attempt} to ${what} succeeded.`);
      return result;
    } catch (error) {
      if (!isPassing(error)) throw error;
      if (clock.elapsed() - toldAt >= tellEveryMillis) {
        toldAt = clock.elapsed();
        const seconds = Math.round((clock.elapsed() - began) / 1000);
        const why = error instanceof Error ? error.name : String(error);
        tell(
          `Try ${attempt} to ${what} failed after ${seconds} s (${why}). It is tried again until it succeeds; Ctrl-C ends the command.`,
        );
      }
      const most = Math.min(longestPauseMillis, firstPauseMillis * 2 ** (attempt - 1));
      // Half of the pause is jitter, so that the tries do not keep step with what holds the item.
      await clock.sleep(most / 2 + ((randomBytes(1)[0] ?? 0) / 256) * (most / 2));
    }
  }
}

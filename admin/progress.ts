import type { Clock } from '../service/values/runtime.ts';

/** No line is printed before this time, and then one line each time. */
const betweenMillis = 2_000;

/**
 * Tells from time to time how far a long command is. A short command tells nothing.
 * @param tell prints a line on standard error
 * @returns takes the line of the moment, and prints it if it is time for one
 */
export function createProgress(
  clock: Pick<Clock, 'elapsed'>,
  tell: (line: string) => void,
): (line: () => string) => void {
  let last = clock.elapsed();
  return (line) => {
    const now = clock.elapsed();
    if (now - last < betweenMillis) return;
    last = now;
    tell(line());
  };
}

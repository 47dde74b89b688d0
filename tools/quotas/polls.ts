/** How often a client asks for one creation that keeps to the header Retry-After. */
import { firstPollSeconds } from '../../core/limits.ts';
import { nextPollSeconds } from '../../core/poll-pace.ts';

/** A deadline that is far enough away not to change the polls. */
const farMillis = 86_400_000;

/** The polls until a client sees the image of a route that takes its usual number of seconds. */
export function pollsUntil(seconds: number): number {
  const startedAt = new Date(0).toISOString();
  const attempts = [{ startedAt, usualMillis: 1_000 * seconds }];
  const creation = { createdAt: startedAt, deadlineAt: farMillis, attempts };
  let polls = 1;
  for (let at = firstPollSeconds; at < seconds; at += nextPollSeconds(creation, 1_000 * at)) polls += 1;
  return polls;
}

/** What it costs that a client polls, computed from the pace that the service names. */
import { firstPollSeconds } from '../../core/limits.ts';
import { nextPollSeconds } from '../../core/poll-pace.ts';

/** The default deadline of an account. It is far enough away not to change the pace here. */
const deadlineMillis = 300_000;

/**
 * How many polls a client makes that waits as long as the service says. The vendor takes its usual time, and the
 * last poll finds the image.
 * @param isKnown whether the service knows the usual time
 */
export function pollsUntil(seconds: number, isKnown = true): number {
  const createdAt = new Date(0).toISOString();
  const attempt = { provider: '', providerModel: '', startedAt: createdAt, resultKey: '' };
  const creation = {
    createdAt,
    deadlineAt: deadlineMillis + seconds * 1000,
    attempts: [isKnown ? { ...attempt, usualMillis: seconds * 1000 } : attempt],
  };
  let polls = 1;
  for (let at = firstPollSeconds; at < seconds; polls += 1) at += nextPollSeconds(creation, at * 1000);
  return polls;
}

/** The polls of a client that polls at one pace, whatever the service says. */
export function pollsAt(paceSeconds: number, seconds: number): number {
  return Math.max(1, Math.ceil(seconds / paceSeconds));
}

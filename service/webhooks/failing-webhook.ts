/**
 * What "failing" means of a webhook or a notice, on every page: an attempt has failed, and another one follows.
 * After its last attempt it has failed, and is no longer failing. The notice `webhook.failing` is about
 * attempts: a number of them (`failingAttempts` of notice.ts) failed in a row for an account.
 */
import type { WebhookState } from '../creations/creation.ts';
import type { Delivery } from './delivery.ts';
import { waitAfter, webhookClaimedMillis } from './webhook.ts';

type Schedule = Pick<WebhookState, 'status' | 'attempts' | 'nextAt'>;

export function isFailing({ status, attempts, nextAt }: Schedule, nowMillis: number): boolean {
  if (status !== 'pending' || attempts === 0) return false;
  // While the first attempt is at work, the next one is further away than the wait between the two.
  return attempts > 1 || nextAt - nowMillis <= waitAfter(1);
}

/** The same schedule, as the log row of the newest attempt tells it. */
export function scheduleOf({ outcome, attempt, startedAt, nextAttemptAt }: Delivery): Schedule {
  if (nextAttemptAt !== undefined)
    return { status: 'pending', attempts: attempt, nextAt: Date.parse(nextAttemptAt) };
  const nextAt = Date.parse(startedAt) + webhookClaimedMillis + waitAfter(attempt);
  return {
    status: outcome === undefined || outcome === 'unknown' ? 'pending' : outcome,
    attempts: attempt,
    nextAt,
  };
}

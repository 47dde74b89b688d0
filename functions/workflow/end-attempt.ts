/** The end of an attempt, in the list of attempts and in the log. */
import type { CreationRecord, RouteAttempt } from '../../core/creation.ts';
import type { Clock, Log } from '../../core/ports/runtime.ts';
import type { RouteEnd } from './ask-provider.ts';
import type { Attempts } from './attempts.ts';
import { verdictOf, type Verdict } from './route-verdict.ts';

/**
 * Sets the outcome of the attempt and returns what it means. The caller saves the attempts.
 * @param millis how long the vendor took
 */
export function endAttempt(
  end: RouteEnd,
  millis: number,
  { creation, attempts, attempt }: EndedAttempt,
  { clock, log }: { readonly clock: Pick<Clock, 'now'>; readonly log: Log },
): Verdict {
  const verdict = verdictOf(end, creation);
  const { outcome, detail, alarm } = verdict;
  attempts.set({
    ...(attempts.at(attempt) ?? attempt),
    endedAt: new Date(clock.now()).toISOString(),
    outcome,
    ...(detail !== undefined && { detail }),
  });
  const { provider, providerModel } = attempt;
  const fields = { provider, providerModel, outcome, detail, millis };
  log.info('provider_answered', fields);
  if (alarm !== undefined) log.alarm(alarm, fields);
  return verdict;
}

export interface EndedAttempt {
  readonly creation: CreationRecord;
  readonly attempts: Attempts;
  readonly attempt: RouteAttempt;
}

/** Milliseconds since the attempt began, for a job whose vendor was asked in an earlier invocation. */
export function millisSince({ startedAt }: RouteAttempt, nowMillis: number): number {
  return Math.max(0, nowMillis - Date.parse(startedAt));
}

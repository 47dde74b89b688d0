/** The end of an attempt, in the list of attempts and in the log. */
import type { CreationRecord, RouteAttempt } from '../../core/creation.ts';
import type { Clock, Log } from '../../core/ports/runtime.ts';
import type { Refused } from '../../core/provider.ts';
import { restMillis } from '../../core/route-health.ts';
import type { RouteEnd } from './ask-provider.ts';
import type { Attempts } from './attempts.ts';
import type { RouteNotes } from './route-notes.ts';
import { verdictOf, type Verdict } from './route-verdict.ts';

/**
 * Sets the outcome of the attempt, notes it for the health of the route, and returns what it means. The caller saves
 * the attempts.
 * @param millis how long the vendor took
 */
export function endAttempt(
  end: RouteEnd,
  millis: number,
  { creation, attempts, attempt, notes }: EndedAttempt,
  { clock, log }: { readonly clock: Pick<Clock, 'now'>; readonly log: Log },
): Verdict {
  const verdict = verdictOf(end, creation);
  const { outcome, detail, alarm } = verdict;
  attempts.set({
    ...(attempts.at(attempt) ?? attempt),
    endedAt: new Date(clock.now()).toISOString(),
    outcome,
    ...(detail !== undefined && { detail }),
    ...(end.kind === 'rendered' && end.billedMicros !== undefined && { billedMicros: end.billedMicros }),
    ...(end.kind === 'refused' && askedAgain(end, clock.now())),
  });
  notes.ended(attempt, end, millis);
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
  readonly notes: Pick<RouteNotes, 'ended'>;
}

/** A vendor that throttles us says when it may be asked again. It has accepted nothing. */
function askedAgain({ reason, retryAfterMillis }: Refused, nowMillis: number): Pick<RouteAttempt, 'againAt'> {
  if (reason !== 'unavailable' || retryAfterMillis === undefined) return {};
  return { againAt: nowMillis + restMillis(retryAfterMillis) };
}

/** Milliseconds since the attempt began, for a job whose vendor was asked in an earlier invocation. */
export function millisSince({ startedAt }: RouteAttempt, nowMillis: number): number {
  return Math.max(0, nowMillis - Date.parse(startedAt));
}

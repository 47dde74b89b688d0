/** The attempts of a creation: how the list is kept, and how an attempt ends. */
import type { CreationRecord, RouteAttempt, RouteChoice } from '../creations/creation.ts';
import type { Clock, Log } from '../values/runtime.ts';
import type { Refused } from '../vendors/provider.ts';
import type { RouteEnd } from './route-end.ts';
import { restMillis } from './route-health.ts';
import type { RouteNotes } from './route-notes.ts';
import { type Verdict, verdictOf } from './route-verdict.ts';

/** Sets the outcome, notes it for the route's health, and says what it means. The caller saves it. */
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
    ...('billedMicros' in end && { billedMicros: end.billedMicros }),
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

/** The attempts at a creation's routes, as the record keeps them for a renderer after a crash. */
export type Attempts = ReturnType<typeof openAttempts>;

/** @param write writes the attempts into the record */
export function openAttempts(
  known: readonly RouteAttempt[],
  write: (attempts: readonly RouteAttempt[]) => Promise<void>,
) {
  const all = [...known];
  const placeOf = (route: RouteChoice): number => all.findLastIndex((attempt) => isOf(attempt, route));
  return {
    all,
    /** The last attempt at this route; undefined when none was begun. */
    at: (route: RouteChoice): RouteAttempt | undefined => all[placeOf(route)],
    begin: (attempt: RouteAttempt) => void all.push(attempt),
    set: (attempt: RouteAttempt) => {
      const place = placeOf(attempt);
      if (place === -1) throw new Error('no attempt at this route was begun');
      all[place] = attempt;
    },
    /** Writes all attempts into the record. Throws when another renderer holds the lease by now. */
    save: async (): Promise<void> => write(all),
  };
}

export function isOf(attempt: RouteChoice, route: RouteChoice): boolean {
  return (
    attempt.provider === route.provider &&
    attempt.providerModel === route.providerModel &&
    attempt.quality === route.quality
  );
}

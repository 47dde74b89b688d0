/** The routes of a creation, one after the other, until one gives an image or a final answer. */
import { isPaused } from '../catalog/providers.ts';
import { CreationFailed, type FailureName, failureNamed, failureNames } from '../contract/failures.ts';
import { signedPrefix } from '../contract/limits.ts';
import {
  type CreationRecord,
  isStoppedByCancel,
  type RouteAttempt,
  type RouteChoice,
  type StoredImage,
} from '../creations/creation.ts';
import { Overloaded } from '../values/errors.ts';
import { errorName } from '../values/runtime.ts';
import type { Parked } from './ask-provider.ts';
import { type Attempts, isOf, openAttempts } from './attempts.ts';
import type { RenderServices } from './open.ts';
import { renderingCostMicros, unitMicrosOf } from './route-costs.ts';
import type { RouteNotes } from './route-notes.ts';
import { tryRoute } from './try-route.ts';

/** Routes with a Retry-After: called last, at the time that the vendor named. */
interface LaterRoute {
  readonly route: RouteChoice;
  /** Unix milliseconds from which the vendor may be asked. */
  readonly atMillis: number;
  readonly isAsked: boolean;
}

/** How often a creation calls one route. A vendor that keeps naming later times must not hold it for ever. */
const mostAsks = 5;
/** The least time that a vendor gets after a wait. */
const leastAskMillis = 5_000;

function throttledRoutes({ all }: Attempts): readonly LaterRoute[] {
  return all.flatMap(({ provider, providerModel, quality, againAt }) =>
    againAt === undefined
      ? []
      : [
          {
            route: { provider, providerModel, ...(quality !== undefined && { quality }) },
            atMillis: againAt,
            isAsked: true,
          },
        ],
  );
}

/** The route with the earliest time. A route without a call yet is called in any case. */
function nextLater(routes: readonly LaterRoute[], attempts: Attempts, until: number): LaterRoute | undefined {
  const open = routes.filter((later) => mayBeAsked(later, attempts, until));
  return open.toSorted((one, other) => one.atMillis - other.atMillis)[0];
}

function mayBeAsked(later: LaterRoute, attempts: Attempts, until: number): boolean {
  const { route, atMillis, isAsked } = later;
  const isUnknown = attempts.all.some(
    ({ provider, outcome }) => provider === route.provider && outcome === 'unknown_outcome',
  );
  if (isUnknown) return false;
  const last = attempts.at(route);
  if (!isAsked) return last === undefined;
  // An earlier refusal of the same route is over.
  return last?.againAt === atMillis && asksOf(route, attempts) < mostAsks && fits(later, until);
}

function asksOf(route: RouteChoice, { all }: Attempts): number {
  return all.filter((attempt) => isOf(attempt, route)).length;
}

function fits({ atMillis }: LaterRoute, until: number): boolean {
  return atMillis + leastAskMillis <= until;
}

export interface Rendering {
  readonly kind: 'rendered';
  readonly image: StoredImage;
  /** Absent when an earlier invocation has stored the image. */
  readonly bytes?: Uint8Array;
  readonly attempts: readonly RouteAttempt[];
}

export interface Walk {
  readonly creation: CreationRecord;
  /** Unix milliseconds by which a route must have given the image. */
  readonly until: number;
  /** Writes the attempts into the record. Throws when another invocation holds the lease by now. */
  readonly save: (attempts: readonly RouteAttempt[]) => Promise<void>;
  readonly mayPark: boolean;
  readonly notes: RouteNotes;
  readonly services: RenderServices;
}

/**
 * The first image that a route gives, or 'parked' when a vendor works and will call back. Throws CreationFailed
 * with the failure that the client receives.
 *
 * An attempt that was begun comes first, because only its vendor can say how it ended. The health of the
 * routes orders the others. A vendor that throttles us is called again at the time that it named, when no
 * other route is left.
 */
export async function walkRoutes(walk: Walk): Promise<Rendering | Parked> {
  const { creation } = walk;
  const attempts = openAttempts(creation.attempts, walk.save);
  const ended = attempts.all.at(-1)?.outcome;
  if (ended !== undefined && isFailureName(ended)) throw new CreationFailed(failureNamed(ended));
  if (isStoppedByCancel(creation)) throw new CreationFailed('InternalFailure');
  const stage = { walk, attempts };
  const end = (await resumeBegun(stage)) ?? (await askOthers(stage));
  if (end) return end;
  await saveEnd(walk, attempts);
  throw new CreationFailed(lastFailure(walk, attempts));
}

interface Stage {
  readonly walk: Walk;
  readonly attempts: Attempts;
}

/** The end of the walk. Undefined: another route has to be asked. */
type WalkEnd = Rendering | Parked | undefined;

async function resumeBegun(stage: Stage): Promise<WalkEnd> {
  const { walk, attempts } = stage;
  const begun = attempts.all.find(({ outcome }) => outcome === undefined);
  if (!begun) return undefined;
  const found = await walk.services.images.find(begun.resultKey);
  if (found) {
    attempts.set({ ...begun, outcome: 'rendered' });
    return { kind: 'rendered', image: found, attempts: attempts.all };
  }
  if (begun.jobId === undefined && !(await mayRepeat(walk, begun))) {
    // The end of this call is unknown. The vendor may have rendered and billed it, so the call is not
    // repeated.
    attempts.set({ ...begun, outcome: 'unknown_outcome' });
    return undefined;
  }
  return isTimeLeft(walk) ? ask(stage, begun) : undefined;
}

async function mayRepeat({ creation, services }: Walk, { provider }: RouteChoice): Promise<boolean> {
  return (await services.providers.get(provider))?.mayRepeat?.(creation.prompt) === true;
}

async function askOthers(stage: Stage): Promise<WalkEnd> {
  const { walk, attempts } = stage;
  const { creation, notes, services } = walk;
  if (!isTimeLeft(walk)) return undefined;
  const ranked = await notes.order(unaskedRoutes(stage), creation, services.providerCosts);
  const resting: LaterRoute[] = [];
  for (const { route, health } of ranked) {
    const { restUntil = 0 } = health;
    if (restUntil > services.clock.now()) {
      resting.push({ route, atMillis: restUntil, isAsked: false });
      continue;
    }
    if (hasUnknownOutcome(attempts, route.provider)) continue;
    if (await isPausedNow(walk, route)) continue;
    if (!isTimeLeft(walk)) return undefined;
    const end = await ask(stage, newAttempt(walk, route));
    if (end) return end;
  }
  return askLater(stage, resting);
}

/** The routes that throttle us, each when it allows a call again. The state is saved before each wait. */
async function askLater(stage: Stage, resting: readonly LaterRoute[]): Promise<WalkEnd> {
  const { walk, attempts } = stage;
  const { until, notes, services } = walk;
  for (;;) {
    const paused = await notes.paused();
    const later = [...resting, ...throttledRoutes(attempts)];
    const next = nextLater(
      later.filter(({ route }) => !isPaused(route, paused)),
      attempts,
      until,
    );
    if (!next || !isTimeLeft(walk)) return undefined;
    const waitMillis = next.atMillis - services.clock.now();
    if (waitMillis > 0 && fits(next, until)) {
      if (attempts.all.length > 0) await attempts.save();
      services.log.info('provider_awaited', { provider: next.route.provider, millis: waitMillis });
      await services.clock.sleep(waitMillis);
      if (await isPausedNow(walk, next.route)) continue;
    }
    const end = await ask(stage, newAttempt(walk, next.route));
    if (end) return end;
  }
}

async function ask({ walk, attempts }: Stage, attempt: RouteAttempt): Promise<WalkEnd> {
  const { creation, until, mayPark, notes, services } = walk;
  const others = unaskedRoutes({ walk, attempts }).filter((route) => !isOf(attempt, route));
  const routesLeft = 1 + others.length;
  const verdict = await tryRoute({
    creation,
    until,
    attempts,
    attempt,
    routesLeft,
    mayPark,
    notes,
    services,
  });
  switch (verdict.kind) {
    case 'parked':
      return verdict;
    case 'next':
      return undefined;
    case 'over':
      await saveEnd(walk, attempts);
      throw new CreationFailed(verdict.failure);
    case 'rendered': {
      const image = { key: attempt.resultKey, ...verdict.image };
      return { kind: 'rendered', image, bytes: verdict.bytes, attempts: attempts.all };
    }
  }
}

function unaskedRoutes({ walk: { creation }, attempts }: Stage): readonly RouteChoice[] {
  return creation.routes.filter(
    (route) => !attempts.at(route) && !hasUnknownOutcome(attempts, route.provider),
  );
}

/** A vendor whose outcome is unknown is not asked again, not even for another of its models. */
function hasUnknownOutcome({ all }: Attempts, asked: string): boolean {
  return all.some(({ provider, outcome }) => provider === asked && outcome === 'unknown_outcome');
}

/** A paused route gets no new job. A job that it has accepted is polled until its end. */
async function isPausedNow({ notes }: Walk, route: RouteChoice): Promise<boolean> {
  return isPaused(route, await notes.paused());
}

function isTimeLeft({ until, services }: Walk): boolean {
  return services.clock.now() < until;
}

/**
 * The failure when no route is left: ours if an outcome is unknown, then a time-out, another picture, no
 * provider.
 */
function lastFailure({ until, services }: Walk, { all }: Attempts): FailureName {
  const outcomes = all.map(({ outcome }) => outcome);
  if (services.clock.now() >= until) return 'GenerationTimedOut';
  if (outcomes.includes('unknown_outcome')) return 'InternalFailure';
  const isLate = outcomes.includes('no_answer') || outcomes.includes('cancelled');
  if (isLate) return 'GenerationTimedOut';
  return outcomes.includes('not_honoured') ? 'NothingRendered' : 'ServiceUnavailable';
}

function isFailureName(outcome: string): boolean {
  return failureNames.some((name) => name === outcome);
}

function newAttempt({ creation, services }: Walk, route: RouteChoice): RouteAttempt {
  const random = Buffer.from(services.randomBytes(24)).toString('base64url');
  const costMicros = renderingCostMicros(services.providerCosts, route, creation);
  const unitMicros = unitMicrosOf(services.providerCosts, route);
  const extension = creation.outputFormat === 'jpeg' ? 'jpg' : creation.outputFormat;
  return {
    ...route,
    startedAt: new Date(services.clock.now()).toISOString(),
    resultKey: `${creation.signedMinutes === undefined ? 'results/' : signedPrefix}${random}.${extension}`,
    ...(costMicros !== undefined && { providerCostMicros: costMicros }),
    ...(unitMicros !== undefined && { unitMicros }),
  };
}

/** The end of the creation is known, even when the table is too busy to record how the last attempt ended. */
async function saveEnd({ services }: Walk, attempts: Attempts): Promise<void> {
  try {
    await attempts.save();
  } catch (error) {
    if (!(error instanceof Overloaded)) throw error;
    services.log.info('attempt_not_noted', { error: errorName(error) });
  }
}

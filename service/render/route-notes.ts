/**
 * How a creation uses the routes' health and adds to it. Nothing here fails or delays a creation: each call
 * has a short time limit, an error becomes a line of the log, and notes are awaited only at the end of the
 * function's work.
 */
import type { ProviderCosts } from '../catalog/catalog-schema.ts';
import type { CreationRecord, RouteAttempt, RouteChoice } from '../creations/creation.ts';
import { type Clock, errorName, type Log, type RandomBytes } from '../values/runtime.ts';
import type { RouteEnd } from './route-end.ts';
import type { HealthNote, HealthStore } from './health-store.ts';
import { renderingCostMicros } from './route-costs.ts';
import {
  closesNow,
  type HealthSign,
  lateAfterMillis,
  meanMillis,
  noteWeight,
  opensNow,
  restMillis,
  type RouteHealth,
  signOf,
  sumsWithin,
} from './route-health.ts';
import { planRoutes, probing, type RankedRoute, rankedUnknown } from './route-order.ts';

/** How long one call may take. A usual call takes 6 ms. */
const callMillis = 1_000;
const learnEveryMillis = 60_000;

export interface HealthServices {
  readonly health: HealthStore;
  readonly clock: Clock;
  readonly log: Log;
  readonly randomBytes: RandomBytes;
}

export type RouteNotes = ReturnType<typeof openRouteNotes>;

export function openRouteNotes(services: HealthServices) {
  const { health, clock } = services;
  const writing: Promise<void>[] = [];
  /** Attempts that are noted as late. Their end without an answer is no second failure. */
  const late = new Set<string>();
  const write = (attempt: RouteAttempt, note: Omit<HealthNote, 'weight'>): void => {
    writing.push(noteQuietly(attempt, note, services));
  };
  return {
    /**
     * The routes in the order of the calls. The health of a single route is read only sometimes, for its
     * usual time.
     */
    order: async (
      routes: readonly RouteChoice[],
      creation: CreationRecord,
      costs: ProviderCosts,
    ): Promise<readonly RankedRoute[]> => {
      const unknown = routes.map((route) =>
        rankedUnknown(route, renderingCostMicros(costs, route, creation)),
      );
      if (routes.length > 1) return orderKnown(unknown, services);
      await learnTimes(routes, services);
      return unknown;
    },
    /** The providers that an operator has paused. A pause is known ten seconds later at the latest. */
    paused: async (): Promise<readonly string[]> =>
      (await quietly('health_not_read', services, (signal) => health.paused(clock.now(), signal))) ?? [],
    /** Milliseconds of a usual rendering by the route, as far as this environment knows. */
    usualMillis: (route: RouteChoice): number | undefined => meanMillis(health.seen(route), clock.now()),
    ended: (attempt: RouteAttempt, end: RouteEnd, millis: number) => {
      const sign = signOf(end);
      const wasNoted = late.has(attempt.resultKey) && end.kind !== 'rendered';
      if (sign === undefined || wasNoted) return;
      const rest = end.kind === 'refused' ? end.retryAfterMillis : undefined;
      write(attempt, {
        sign,
        ...(sign === 'rendered' && { millis }),
        ...(rest !== undefined && { restUntil: clock.now() + restMillis(rest) }),
      });
    },
    /**
     * Notes once that an attempt takes far longer than usual, since its vendor may hang. Returns a function
     * that ends this.
     */
    noteIfLate: (attempt: RouteAttempt): (() => void) => {
      const after = lateAfterMillis(health.seen(attempt), clock.now());
      if (after === undefined) return () => undefined;
      const limit = clock.deadline(Date.parse(attempt.startedAt) + after);
      const note = (): void => {
        late.add(attempt.resultKey);
        write(attempt, { sign: 'failure' });
      };
      if (limit.signal.aborted) note();
      else limit.signal.addEventListener('abort', note, { once: true });
      return () => {
        limit.signal.removeEventListener('abort', note);
        limit.release();
      };
    },
    settled: async () => {
      await Promise.all(writing);
    },
  };
}

/**
 * An environment that waits for its renderings knows their time. An environment that parks its jobs does not.
 */
async function learnTimes(routes: readonly RouteChoice[], services: HealthServices): Promise<void> {
  const { health, clock } = services;
  const now = clock.now();
  const unknown = routes.filter(
    (route) =>
      meanMillis(health.seen(route), now) === undefined &&
      (health.readAt(route) ?? -Infinity) <= now - learnEveryMillis,
  );
  if (unknown.length === 0) return;
  await quietly('health_not_read', services, (signal) => health.read(unknown, now, signal));
}

async function orderKnown(
  given: readonly RankedRoute[],
  services: HealthServices,
): Promise<readonly RankedRoute[]> {
  const { health, clock } = services;
  const known = await quietly('health_not_read', services, (signal) =>
    health.read(
      given.map(({ route }) => route),
      clock.now(),
      signal,
    ),
  );
  if (!known) return given;
  const now = clock.now();
  const ranked = given.map((one, place) => ({ ...one, health: known.health[place] ?? one.health }));
  const plan = planRoutes(ranked, known.order, now);
  for (const probe of plan.probes) {
    const claim = (signal: AbortSignal): Promise<boolean> =>
      health.claimProbe(probe.route, probe.health, now, signal);
    if (await quietly('health_not_noted', services, claim)) return probing(plan, probe);
  }
  return plan.routes;
}

async function noteQuietly(
  attempt: RouteAttempt,
  note: Omit<HealthNote, 'weight'>,
  services: HealthServices,
): Promise<void> {
  const { health, clock } = services;
  const now = clock.now();
  const weight = weightOf(attempt, note, now, services);
  if (weight === undefined) return;
  await quietly('health_not_noted', services, async (signal) => {
    const after = await health.note(attempt, { ...note, weight }, now, signal);
    await turnCircuit(attempt, note.sign, after, services, signal);
  });
}

/** Undefined: this end is not in the sample. Another note represents it. */
function weightOf(
  attempt: RouteAttempt,
  { sign }: Omit<HealthNote, 'weight'>,
  nowMillis: number,
  { health, randomBytes }: HealthServices,
): number | undefined {
  const oneIn = noteWeight(health.seen(attempt), sign, nowMillis);
  if (oneIn === 1) return 1;
  // A note represents at most 256 ends, so one random byte decides.
  return (randomBytes(1)[0] ?? 0) % oneIn === 0 ? oneIn : undefined;
}

async function turnCircuit(
  attempt: RouteAttempt,
  sign: HealthSign,
  after: RouteHealth,
  { health, clock, log }: HealthServices,
  signal: AbortSignal,
): Promise<void> {
  const { provider, providerModel, quality, startedAt } = attempt;
  const now = clock.now();
  if (closesNow(after, sign, Date.parse(startedAt))) {
    if (!(await health.close(attempt, after, signal))) return;
    const millis = now - (after.openedAt ?? now);
    log.info('provider_circuit_closed', { provider, providerModel, quality, millis });
    return;
  }
  if (sign === 'rendered' || after.openedAt !== undefined || !opensNow(after, now)) return;
  // The circuit may be open when the answer of the table is lost, and then nothing else notifies the
  // operator.
  let mayBeOurs = true;
  try {
    mayBeOurs = await health.open(attempt, now, signal);
  } finally {
    const { rendered, failed } = sumsWithin(after, 60, now);
    if (mayBeOurs)
      log.alarm('provider_circuit_opened', { provider, providerModel, quality, rendered, failed });
  }
}

async function quietly<Result>(
  event: 'health_not_read' | 'health_not_noted',
  { clock, log }: HealthServices,
  call: (signal: AbortSignal) => Promise<Result>,
): Promise<Result | undefined> {
  const limit = clock.timeout(callMillis);
  try {
    return await call(limit.signal);
  } catch (error) {
    log.info(event, { error: errorName(error) });
    return undefined;
  } finally {
    limit.release();
  }
}

/**
 * Routes whose vendor wants to be left alone for a while: 429 and 503 with Retry-After prove that it accepted
 * nothing. They are asked when no other route is left, at the time that the vendor named.
 */
import type { RouteChoice } from '../../core/creation.ts';
import { isOf, type Attempts } from './attempts.ts';

export interface LaterRoute {
  readonly route: RouteChoice;
  /** Unix milliseconds from which the vendor may be asked. */
  readonly atMillis: number;
  /** Whether this creation has asked the route before. */
  readonly isAsked: boolean;
}

/** How often a creation asks one route. A vendor that always names another moment does not hold it for ever. */
const mostAsks = 5;
/** The least time that a vendor gets after a wait. */
const leastAskMillis = 5_000;

/** The routes that have refused this creation and named a moment. */
export function throttledRoutes({ all }: Attempts): readonly LaterRoute[] {
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

/**
 * The route whose moment comes first. A route that was never asked is asked in any case, so that no creation fails
 * because of a moment that lies too far ahead.
 */
export function nextLater(
  routes: readonly LaterRoute[],
  attempts: Attempts,
  until: number,
): LaterRoute | undefined {
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

/** Whether the vendor still has time after the wait. */
export function fits({ atMillis }: LaterRoute, until: number): boolean {
  return atMillis + leastAskMillis <= until;
}

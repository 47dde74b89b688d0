/** The order in which the routes of a creation are asked. Health only reorders: every route stays. */
import type { RouteOrder } from '../catalog/provider-store.ts';
import type { RouteChoice } from '../creations/creation.ts';
import type { Micros } from '../values/money.ts';
import { meanMillis, noHealth, type RouteHealth } from './route-health.ts';

export interface RankedRoute {
  readonly route: RouteChoice;
  readonly health: RouteHealth;
  /** What the provider bills for the creation. Undefined: unknown. */
  readonly costMicros: Micros | undefined;
}

/**
 * The state of a route. Routes are tried in the order of this list. 'unmeasured' occurs only in the order
 * 'fastest'.
 */
const standings = ['ready', 'unmeasured', 'open', 'resting'] as const;
type Standing = (typeof standings)[number];

export interface RoutePlan {
  readonly routes: readonly RankedRoute[];
  /**
   * Routes whose probe is due and that would be first in good health. The creation that claims a probe tries
   * that route first.
   */
  readonly probes: readonly RankedRoute[];
}

/** @param given the routes in the order of the catalog */
export function planRoutes(given: readonly RankedRoute[], order: RouteOrder, nowMillis: number): RoutePlan {
  const wished = inOrder(given, order, nowMillis);
  const isMeasured = order === 'fastest' && given.some(({ health }) => timeOf(health, nowMillis) < Infinity);
  const standingOf = ({ health }: RankedRoute): Standing => {
    if ((health.restUntil ?? 0) > nowMillis) return 'resting';
    if (health.openedAt !== undefined) return 'open';
    return isMeasured && timeOf(health, nowMillis) === Infinity ? 'unmeasured' : 'ready';
  };
  const routes = standings.flatMap((standing) => wished.filter((one) => standingOf(one) === standing));
  return { routes, probes: probesAmong(wished, standingOf, nowMillis) };
}

export function probing({ routes }: RoutePlan, claimed: RankedRoute | undefined): readonly RankedRoute[] {
  return claimed ? [claimed, ...routes.filter((one) => one !== claimed)] : routes;
}

function probesAmong(
  wished: readonly RankedRoute[],
  standingOf: (one: RankedRoute) => Standing,
  nowMillis: number,
): readonly RankedRoute[] {
  const unmeasured = wished.filter((one) => standingOf(one) === 'unmeasured');
  const firstReady = wished.findIndex((one) => standingOf(one) === 'ready');
  const ahead = firstReady === -1 ? wished : wished.slice(0, firstReady);
  const open = ahead.filter((one) => standingOf(one) === 'open');
  return [...open, ...unmeasured].filter(({ health }) => (health.probeAt ?? 0) <= nowMillis);
}

/** Array.sort keeps the order of the catalog among equals. */
function inOrder(
  given: readonly RankedRoute[],
  order: RouteOrder,
  nowMillis: number,
): readonly RankedRoute[] {
  switch (order) {
    case 'given':
      return given;
    case 'cheapest':
      return given.toSorted((a, b) => compare(a.costMicros ?? Infinity, b.costMicros ?? Infinity));
    case 'fastest':
      return given.toSorted((a, b) => compare(timeOf(a.health, nowMillis), timeOf(b.health, nowMillis)));
  }
}

/** Infinity minus Infinity is no number. */
function compare(one: number, other: number): number {
  return one === other ? 0 : one < other ? -1 : 1;
}

function timeOf(health: RouteHealth, nowMillis: number): number {
  return meanMillis(health, nowMillis) ?? Infinity;
}

/** A route of which nothing was noted yet. */
export function rankedUnknown(route: RouteChoice, costMicros: Micros | undefined): RankedRoute {
  return { route, health: noHealth, costMicros };
}

/** What all functions together have learnt of the routes. */
import type { RouteChoice } from '../creation.ts';
import type { HealthSign, RouteHealth } from '../route-health.ts';
import type { RouteOrder } from '../route-order.ts';

export interface HealthNote {
  readonly sign: HealthSign;
  /** For how many ends the note stands. */
  readonly weight: number;
  /** How long a rendering took. Only with the sign 'rendered'. */
  readonly millis?: number;
  /** Unix milliseconds until which the vendor wants to be left alone. */
  readonly restUntil?: number;
}

export interface KnownRoutes {
  readonly order: RouteOrder;
  /** One for each route that was asked for, in the same order. */
  readonly health: readonly RouteHealth[];
}

/**
 * Every call ends with its signal, and throws then. Nothing is repeated for long: health that is missing or late
 * costs an order, and never a creation.
 */
export interface HealthStore {
  /** One eventually consistent BatchGetItem. A route of which nothing was noted is `noHealth`. */
  read(routes: readonly RouteChoice[], nowMillis: number, signal: AbortSignal): Promise<KnownRoutes>;
  /** The paused providers, as this environment read them at most ten seconds ago. */
  paused(nowMillis: number, signal: AbortSignal): Promise<readonly string[]>;
  /** When this environment last read the route, in Unix milliseconds. Undefined: never. */
  readAt(route: RouteChoice): number | undefined;
  /** What this environment of the function saw last of a route. */
  seen(route: RouteChoice): RouteHealth;
  /** One write. Resolves with the sums after it. */
  note(route: RouteChoice, note: HealthNote, nowMillis: number, signal: AbortSignal): Promise<RouteHealth>;
  /** Opens the circuit. False when another function has done so. */
  open(route: RouteChoice, nowMillis: number, signal: AbortSignal): Promise<boolean>;
  /** Closes the circuit that opened at this time, and forgets its failures. False when it is not open any more. */
  close(route: RouteChoice, health: RouteHealth, signal: AbortSignal): Promise<boolean>;
  /** Claims the probe of a route for one creation. False when another creation has claimed it. */
  claimProbe(
    route: RouteChoice,
    health: RouteHealth,
    nowMillis: number,
    signal: AbortSignal,
  ): Promise<boolean>;
}

/** How many requests API Gateway lets through: of each route, and of all routes of an API together. */
import type { Settings } from './settings.ts';

/** Tokens that a bucket gets a second, and its size. */
export type Throttle = Settings['throttling'];

/**
 * An API takes so many times what one of its routes takes. AWS does not say whether a request of a route with a limit
 * of its own also uses up the limit of its stage. If so, a stranger who uses up one route leaves half to all others.
 */
const routesInAnApi = 2;

/** The throttles by the setting `throttling`. */
export function throttlesOf({ ratePerSecond, burst }: Throttle): {
  readonly route: Throttle;
  readonly stage: Throttle;
} {
  return {
    route: { ratePerSecond, burst },
    stage: { ratePerSecond: routesInAnApi * ratePerSecond, burst: routesInAnApi * burst },
  };
}

/** A throttle in the words of CDK. */
export function throttling({ ratePerSecond, burst }: Throttle): {
  readonly throttlingRateLimit: number;
  readonly throttlingBurstLimit: number;
} {
  return { throttlingRateLimit: ratePerSecond, throttlingBurstLimit: burst };
}

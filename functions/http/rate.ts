/** The rate of an account: how many requests of a kind the account may send in a minute of the clock. */
import { rateWindowSeconds } from '../../core/limits.ts';
import type { RequestStore } from '../../core/ports/requests.ts';
import type { Authenticated, RatePlace } from './caller.ts';
import { rateExceeded, type RateExceeded } from './problems.ts';

export type Rate = 'get' | 'post';

/** The request's place in the rate window; not taken yet. */
export function openRatePlace(
  caller: Authenticated,
  rate: Rate,
  requests: Pick<RequestStore, 'countRequest'>,
): RatePlace {
  let isTaken = false;
  return {
    get isTaken() {
      return isTaken;
    },
    take: async () => {
      if (isTaken) return;
      const limit = limitOf(caller, rate);
      if (!(await requests.countRequest(caller.account.id, rate, limit, caller.nowMillis)))
        throw overRate(caller, rate);
      isTaken = true;
    },
    takenByCharge: () => {
      isTaken = true;
    },
  };
}

/** Checks the count that was read with the caller. Throws RateExceeded when the window is full. */
export function checkRate(caller: Authenticated, rate: Rate): void {
  if (caller.state.rateCount >= limitOf(caller, rate)) throw overRate(caller, rate);
}

/** The refusal of a request without a place in the window. */
export function overRate(caller: Authenticated, rate: Rate): RateExceeded {
  return rateExceeded(rate, limitOf(caller, rate), windowEndsIn(caller.nowMillis));
}

/** The limit of the caller's account for this kind of request, a minute. */
function limitOf({ account }: Authenticated, rate: Rate): number {
  return rate === 'post' ? account.limits.postRate : account.limits.getRate;
}

/** Seconds until the window of the caller's request ends; 1 to 60. */
function windowEndsIn(nowMillis: number): number {
  return rateWindowSeconds - (Math.floor(nowMillis / 1000) % rateWindowSeconds);
}

/**
 * The RateLimit fields of the IETF draft: the policy, the requests left and the seconds until the next
 * window.
 * @param places how many places of the window this request takes: 1; 0 when the request is not counted;
 *   Infinity when the window is full
 */
export function rateHeaders(caller: Authenticated, rate: Rate, places: number): Record<string, string> {
  const limit = limitOf(caller, rate);
  const left = Math.max(0, limit - caller.state.rateCount - places);
  return {
    'ratelimit-policy': `"${rate}";q=${limit};w=${rateWindowSeconds}`,
    ratelimit: `"${rate}";r=${left};t=${windowEndsIn(caller.nowMillis)}`,
  };
}

/** The rate of an account: how many requests of a kind it may send in a minute of the clock. */
import { rateWindowSeconds } from '../../core/limits.ts';
import type { RequestStore } from '../../core/ports/requests.ts';
import { Problem, retryLater } from '../../core/problem.ts';
import type { Authenticated, RatePlace } from './caller.ts';

/** 429 account_rate: the request has no place in the window, and nothing more is counted. */
export class RateExceeded extends Problem {}

export function openRatePlace(
  caller: Authenticated,
  rate: 'get' | 'post',
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
        throw rateExceeded(caller, rate);
      isTaken = true;
    },
    takenByCharge: () => {
      isTaken = true;
    },
  };
}

/** The limit of the caller's account for this kind of request, a minute. */
export function limitOf({ account }: Authenticated, rate: 'get' | 'post'): number {
  return rate === 'post' ? account.limits.postRate : account.limits.getRate;
}

/** Seconds until the window of the caller's request ends; 1 to 60. */
function windowEndsIn(nowMillis: number): number {
  return rateWindowSeconds - (Math.floor(nowMillis / 1000) % rateWindowSeconds);
}

/** To be tried again when the next window begins. */
export function rateExceeded(caller: Authenticated, rate: 'get' | 'post'): RateExceeded {
  const limit = limitOf(caller, rate);
  const { code, message, details, headers } = retryLater(
    'ERR_RATE_LIMIT',
    `This account may send ${limit} ${rate.toUpperCase()} requests a minute.`,
    { reason: 'account_rate', limit, window_seconds: rateWindowSeconds },
    windowEndsIn(caller.nowMillis),
  );
  return new RateExceeded(code, message, details, headers);
}

/**
 * The IETF draft's RateLimit fields: the policy, what is left of it and when it starts anew.
 * @param places that this request takes of what was read: 1; 0 when it is not counted; Infinity when the window is full
 */
export function rateHeaders(
  caller: Authenticated,
  rate: 'get' | 'post',
  places: number,
): Record<string, string> {
  const limit = limitOf(caller, rate);
  const left = Math.max(0, limit - caller.state.rateCount - places);
  return {
    'ratelimit-policy': `"${rate}";q=${limit};w=${rateWindowSeconds}`,
    ratelimit: `"${rate}";r=${left};t=${windowEndsIn(caller.nowMillis)}`,
  };
}

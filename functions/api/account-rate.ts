import { rateWindowSeconds } from '../../core/limits.ts';
import { retryLater, type Problem } from '../../core/problem.ts';
import type { Caller } from './authenticate.ts';

/** The limit of the caller's account for this kind of request, a minute. */
export function limitOf(caller: Caller, rate: 'get' | 'post'): number {
  return rate === 'post' ? caller.account.limits.postRate : caller.account.limits.getRate;
}

/** Seconds until the window of the caller's request ends; 1 to 60. */
function windowEndsIn(nowMillis: number): number {
  return rateWindowSeconds - Math.floor(nowMillis / 1000) % rateWindowSeconds;
}

/** 429 account_rate, to be tried again when the next window begins. */
export function rateExceeded(caller: Caller, rate: 'get' | 'post'): Problem {
  const limit = limitOf(caller, rate);
  return retryLater(
    'ERR_RATE_LIMIT',
    `This account may send ${limit} ${rate.toUpperCase()} requests a minute.`,
    { reason: 'account_rate', limit, window_seconds: rateWindowSeconds },
    windowEndsIn(caller.nowMillis),
  );
}

/** The IETF draft's RateLimit fields: the policy, what is left of it and when it starts anew. */
export function rateHeaders(caller: Caller, rate: 'get' | 'post', refused: boolean): Record<string, string> {
  const limit = limitOf(caller, rate);
  const left = refused ? 0 : Math.max(0, limit - caller.state.rateCount - 1);
  return {
    'ratelimit-policy': `"${rate}";q=${limit};w=${rateWindowSeconds}`,
    ratelimit: `"${rate}";r=${left};t=${windowEndsIn(caller.nowMillis)}`,
  };
}

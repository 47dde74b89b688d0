/** A bucket of tokens, as AWS uses it for its throttles. */
import type { BucketSize } from '../limits/step-functions.ts';

export interface TokenBucket {
  /** Takes a token. False when the bucket is empty. */
  readonly take: () => boolean;
  /** Whether there is any token. */
  readonly hasSome: () => boolean;
  /** Takes tokens that were used already. The bucket may owe some afterwards. */
  readonly spend: (tokens: number) => void;
  /** Milliseconds until there is a token. */
  readonly millisToNext: () => number;
}

/** Creates a full bucket. `now` gives epoch milliseconds. */
export function createTokenBucket(now: () => number, { perSecond, burst }: BucketSize): TokenBucket {
  let tokens = burst;
  let at = now();
  const fill = (): void => {
    const millis = now();
    if (millis === at) return;
    tokens = Math.min(burst, tokens + ((millis - at) * perSecond) / 1000);
    at = millis;
  };
  return {
    take: () => {
      fill();
      if (tokens < 1) return false;
      tokens -= 1;
      return true;
    },
    hasSome: () => {
      fill();
      return tokens > 0;
    },
    spend: (used) => {
      fill();
      tokens -= used;
    },
    millisToNext: () => {
      fill();
      return tokens >= 1 ? 0 : Math.ceil(((1 - tokens) * 1000) / perSecond);
    },
  };
}

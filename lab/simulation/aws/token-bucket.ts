/** A bucket of tokens, as AWS uses it for its throttles. */
import { type BucketSize, dynamodbLimits } from './quotas.ts';

export interface TokenBucket {
  /** Takes a token. False when the bucket is empty. */
  readonly take: () => boolean;
  readonly hasSome: () => boolean;
  /** Takes tokens that were used already. The bucket may owe some afterwards. */
  readonly spend: (tokens: number) => void;
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

/** Number of partition buckets from which on full buckets are dropped. */
const mostBuckets = 50_000;
const forgetMillis = 2_000;

interface Partitions {
  readonly hasSome: (name: string) => boolean;
  readonly spend: (name: string, units: number) => void;
}

interface Bucket {
  tokens: number;
  at: number;
}

/**
 * A creation has a partition of its own, which gets a few units a second. These partitions are not limited.
 */
const isQuiet = (name: string): boolean => name.startsWith('CREATION#');

/** A bucket for each partition key that was used in the last seconds. */
export function createPartitions(now: () => number, perSecond: number): Partitions {
  let buckets = new Map<string, Bucket>();
  const fill = (bucket: Bucket): void => {
    const millis = now();
    if (millis === bucket.at) return;
    bucket.tokens = Math.min(perSecond, bucket.tokens + ((millis - bucket.at) * perSecond) / 1000);
    bucket.at = millis;
  };
  /** A bucket that was unused for two seconds is full again, or nearly so. */
  const drop = (): void => {
    buckets = new Map([...buckets].filter(([, { at, tokens }]) => at > now() - forgetMillis || tokens < 0));
  };
  return {
    hasSome: (name) => {
      const bucket = isQuiet(name) ? undefined : buckets.get(name);
      if (bucket === undefined) return true;
      fill(bucket);
      return bucket.tokens > 0;
    },
    spend: (name, units) => {
      if (isQuiet(name)) return;
      let bucket = buckets.get(name);
      if (bucket === undefined) {
        bucket = { tokens: perSecond, at: now() };
        buckets.set(name, bucket);
        if (buckets.size > mostBuckets) drop();
      }
      fill(bucket);
      bucket.tokens -= units;
    },
  };
}

/**
 * The whole table, or an index. It takes what it is warm for, and twice the peak that it has seen, once 30 minutes have
 * passed; never more than the quota.
 */
export function createGrowing(
  now: () => number,
  warm: number,
  quota: number,
): { readonly hasSome: () => boolean; readonly spend: (units: number) => void } {
  const { factor, minutes } = dynamodbLimits.growth;
  let takes = Math.min(warm, quota);
  let bucket = createTokenBucket(now, { perSecond: takes, burst: takes });
  let second = Math.floor(now() / 1000);
  let inSecond = 0;
  let peak = 0;
  let grownAt = now();
  const grow = (): void => {
    grownAt = now();
    const next = Math.min(quota, Math.max(takes, factor * peak));
    if (next === takes) return;
    takes = next;
    bucket = createTokenBucket(now, { perSecond: takes, burst: takes });
  };
  return {
    hasSome: () => bucket.hasSome(),
    spend: (units) => {
      bucket.spend(units);
      const current = Math.floor(now() / 1000);
      if (current !== second) {
        peak = Math.max(peak, inSecond);
        second = current;
        inSecond = 0;
        if (now() - grownAt >= minutes * 60_000) grow();
      }
      inSecond += units;
    },
  };
}

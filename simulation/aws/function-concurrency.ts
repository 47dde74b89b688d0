/** How many invocations Lambda runs at the same time, and how fast it adds environments. */
import { lambdaLimits } from '../limits/lambda.ts';
import type { AwsQuotas } from '../limits/quotas.ts';
import { createTokenBucket, type TokenBucket } from './token-bucket.ts';

/** An invocation that Lambda runs. */
export interface RunningInvocation {
  /** The start of a new environment. 0: an idle environment takes the invocation. */
  readonly coldMillis: number;
  readonly end: () => void;
}

export interface FunctionConcurrency {
  /** Undefined: Lambda throttles the invocation. */
  readonly begin: (name: string) => RunningInvocation | undefined;
  /** The most invocations at the same time: of all functions, and by function. */
  readonly peaks: () => { readonly all: number; readonly byFunction: Readonly<Record<string, number>> };
  /** Invocations and the milliseconds that they took, by function. */
  readonly used: () => ReadonlyMap<string, { readonly invocations: number; readonly millis: number }>;
}

interface OneFunction {
  running: number;
  peak: number;
  invocations: number;
  millis: number;
  /** When each idle environment became idle. The newest is the last. */
  readonly idle: number[];
  readonly growth: TokenBucket;
}

/** Functions that share what is reserved for them, or what is left of the account. */
interface Pool {
  running: number;
  readonly most: number;
  /** How a reader knows the pool. */
  readonly limit: string;
}

/**
 * @param warm so many environments of a function are idle at the beginning
 * @param onRefused is told what throttled an invocation
 */
export function createFunctionConcurrency(
  now: () => number,
  { concurrency, reserved }: AwsQuotas,
  warm: Readonly<Record<string, number>>,
  onRefused: (limit: string) => void,
): FunctionConcurrency {
  const { scaling, idleMillis, coldStartMillis } = lambdaLimits;
  const functions = new Map<string, OneFunction>();
  const shared: Pool = {
    running: 0,
    most: concurrency - reserved.reduce((sum, pool) => sum + pool.concurrency, 0),
    limit: 'concurrency of the account',
  };
  const pools = new Map(
    reserved.flatMap((pool) => {
      const one: Pool = {
        running: 0,
        most: pool.concurrency,
        limit: `reserved concurrency of ${pool.functions.join(', ')}`,
      };
      return pool.functions.map((name) => [name, one] as const);
    }),
  );
  let running = 0;
  let peak = 0;

  function functionOf(name: string): OneFunction {
    const known = functions.get(name);
    if (known) return known;
    const made = {
      running: 0,
      peak: 0,
      invocations: 0,
      millis: 0,
      idle: Array.from({ length: warm[name] ?? 0 }, now),
      growth: createTokenBucket(now, {
        perSecond: scaling.environments / scaling.seconds,
        burst: scaling.environments,
      }),
    };
    functions.set(name, made);
    return made;
  }

  return {
    begin: (name) => {
      const one = functionOf(name);
      const pool = pools.get(name) ?? shared;
      if (pool.running >= pool.most) {
        onRefused(pool.limit);
        return undefined;
      }
      const last = one.idle.at(-1);
      const isWarm = last !== undefined && last > now() - idleMillis;
      if (isWarm) one.idle.pop();
      else {
        one.idle.length = 0;
        if (!one.growth.take()) {
          onRefused(`scaling of ${name}`);
          return undefined;
        }
      }
      const begunAt = now();
      one.running += 1;
      one.invocations += 1;
      one.peak = Math.max(one.peak, one.running);
      running += 1;
      pool.running += 1;
      peak = Math.max(peak, running);
      return {
        coldMillis: isWarm ? 0 : coldStartMillis,
        end: () => {
          one.running -= 1;
          one.millis += now() - begunAt;
          one.idle.push(now());
          running -= 1;
          pool.running -= 1;
        },
      };
    },
    peaks: () => ({
      all: peak,
      byFunction: Object.fromEntries([...functions].map(([name, one]) => [name, one.peak])),
    }),
    used: () => functions,
  };
}

/** How many invocations Lambda runs at the same time, and how fast it adds environments. */
import { leastBusySeconds } from '../../../admin/preflight/quotas/creation-load.ts';
import { type AwsQuotas, lambdaLimits } from './quotas.ts';
import { createTokenBucket, type TokenBucket } from './token-bucket.ts';

const leastBusyMillis = 1_000 * leastBusySeconds;

/** An invocation that Lambda runs. */
export interface RunningInvocation {
  /** The start of a new environment. 0: an idle environment takes the invocation. */
  readonly coldMillis: number;
  readonly end: () => void;
}

interface OneFunction {
  /** Invocations, and environments that have had their invocation of this tenth of a second. */
  running: number;
  peak: number;
  invocations: number;
  millis: number;
  /** When each idle environment became idle. The newest is the last. */
  readonly idle: number[];
  /** When each environment that has had a short invocation may take the next one. The earliest is the first. */
  readonly resting: number[];
  readonly growth: TokenBucket;
}

/** What is reserved for a function, or what is left of the account. */
interface Pool {
  running: number;
  readonly most: number;
  /** How a reader knows the pool. */
  readonly limit: string;
}

/**
 * @param warm the number of idle environments of a function at the beginning
 * @param onRefused receives what throttled an invocation
 */
export function createFunctionConcurrency(
  now: () => number,
  { concurrency, reserved }: AwsQuotas,
  warm: Readonly<Record<string, number>>,
  onRefused: (limit: string) => void,
) {
  const { scaling, idleMillis, coldStartMillis } = lambdaLimits;
  const functions = new Map<string, OneFunction>();
  const shared: Pool = {
    running: 0,
    most: concurrency - reserved.reduce((sum, pool) => sum + pool.concurrency, 0),
    limit: 'concurrency of the account',
  };
  const pools = new Map(
    reserved.map((one): [string, Pool] => [
      one.function,
      { running: 0, most: one.concurrency, limit: `reserved concurrency of ${one.function}` },
    ]),
  );
  const poolOf = (name: string): Pool => pools.get(name) ?? shared;
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
      resting: [],
      growth: createTokenBucket(now, {
        perSecond: scaling.environments / scaling.seconds,
        burst: scaling.environments,
      }),
    };
    functions.set(name, made);
    return made;
  }

  function free(one: OneFunction, pool: Pool, at: number): void {
    one.running -= 1;
    one.idle.push(at);
    running -= 1;
    pool.running -= 1;
  }

  /** Frees the environments that may take their next invocation. */
  function wake(): void {
    for (const [name, one] of functions)
      for (let at = one.resting[0]; at !== undefined && at <= now(); at = one.resting[0]) {
        one.resting.shift();
        free(one, poolOf(name), at);
      }
  }

  return {
    /** Undefined: Lambda throttles the invocation. */
    begin: (name: string): RunningInvocation | undefined => {
      const one = functionOf(name);
      const pool = poolOf(name);
      wake();
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
          one.millis += now() - begunAt;
          const freeAt = begunAt + leastBusyMillis;
          if (freeAt <= now()) free(one, pool, now());
          else insert(one.resting, freeAt);
        },
      };
    },
    /** The most invocations at the same time: of all functions, and by function. */
    peaks: (): { readonly all: number; readonly byFunction: Readonly<Record<string, number>> } => ({
      all: peak,
      byFunction: Object.fromEntries([...functions].map(([name, one]) => [name, one.peak])),
    }),
    /** Invocations and the milliseconds that they took, by function. */
    used: (): ReadonlyMap<string, { readonly invocations: number; readonly millis: number }> => functions,
  };
}

/** Inserts a number into numbers in their order. Most numbers belong near the end. */
function insert(numbers: number[], number: number): void {
  let place = numbers.length;
  while (place > 0 && (numbers[place - 1] ?? 0) > number) place -= 1;
  numbers.splice(place, 0, number);
}

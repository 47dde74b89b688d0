import type { ExecutionEnvironment } from './execution-environment.ts';
import type { InvocationResult } from './messages.ts';

/** The execution environments of one function. */
export interface WorkerPool {
  /** Queues the invocation until an environment is free, first come, first served. Never rejects. */
  readonly invoke: (event: unknown, onStart?: () => void) => Promise<InvocationResult>;
  /** Starts an environment ahead of its first invocation. */
  readonly warm: () => void;
  /** Ends all environments. */
  readonly stop: () => Promise<void>;
}

/** How many invocations an environment takes at once, and how many environments there may be. */
export interface PoolLimits {
  readonly invocationsEach: number;
  readonly environments: number;
  /** After how many milliseconds without work an environment ends; without it, never. */
  readonly idleMillis?: number;
}

/**
 * For functions behind the gateway. AWS gives every concurrent request an environment of its own;
 * here a burst of 200 requests would start 200 threads on a few cores, for nothing: the handlers
 * wait for the network nearly all of their time.
 */
export const sharedLimits: PoolLimits = { invocationsEach: 50, environments: 16 };

/** For tasks, schedules and events: one invocation at a time, so that a crash takes no innocents with it. */
export const aloneLimits: PoolLimits = { invocationsEach: 1, environments: 48, idleMillis: 60_000 };

interface Waiting {
  readonly event: unknown;
  readonly onStart: (() => void) | undefined;
  readonly finish: (result: InvocationResult) => void;
}

/** Makes a pool that starts environments as they are needed. */
export function createWorkerPool(start: () => ExecutionEnvironment, limits: PoolLimits): WorkerPool {
  const environments = new Map<ExecutionEnvironment, NodeJS.Timeout | undefined>();
  const retired = new Set<ExecutionEnvironment>();
  const queue: Waiting[] = [];
  let stopped = false;

  function add(): ExecutionEnvironment {
    const environment = start();
    environments.set(environment, undefined);
    return environment;
  }

  function free(): ExecutionEnvironment | undefined {
    for (const environment of environments.keys()) {
      if (!environment.isUsable()) retire(environment);
      else if (environment.inFlight() < limits.invocationsEach) return environment;
    }
    return environments.size < limits.environments ? add() : undefined;
  }

  /** It takes nothing new; its other invocations may finish, then it ends by itself. */
  function retire(environment: ExecutionEnvironment): void {
    clearTimeout(environments.get(environment));
    environments.delete(environment);
    if (environment.inFlight() > 0) retired.add(environment);
    else void environment.end();
  }

  function serve(): void {
    for (let waiting = queue.shift(); waiting !== undefined; waiting = queue.shift()) {
      const environment = free();
      if (environment === undefined) {
        queue.unshift(waiting);
        return;
      }
      void run(environment, waiting);
    }
  }

  async function run(environment: ExecutionEnvironment, { event, onStart, finish }: Waiting): Promise<void> {
    clearTimeout(environments.get(environment));
    onStart?.();
    finish(await environment.invoke(event));
    if (environment.inFlight() === 0) rest(environment);
    if (queue.length > 0) serve();
  }

  function rest(environment: ExecutionEnvironment): void {
    retired.delete(environment);
    if (!environments.has(environment)) return;
    if (!environment.isUsable()) {
      retire(environment);
      return;
    }
    if (limits.idleMillis === undefined) return;
    const end = setTimeout(() => {
      if (environment.inFlight() === 0) retire(environment);
    }, limits.idleMillis);
    end.unref();
    environments.set(environment, end);
  }

  return {
    invoke: (event, onStart) => {
      if (stopped) return Promise.resolve(refused);
      return new Promise((finish) => {
        queue.push({ event, onStart, finish });
        serve();
      });
    },
    warm: () => {
      if (!stopped && environments.size === 0) rest(add());
    },
    stop: async () => {
      stopped = true;
      for (const { finish } of queue.splice(0)) finish(refused);
      const all = [...environments.keys(), ...retired];
      for (const timer of environments.values()) clearTimeout(timer);
      environments.clear();
      await Promise.all(all.map((environment) => environment.end()));
    },
  };
}

const refused: InvocationResult = {
  ok: false,
  error: { errorType: 'Lambda.ServiceException', errorMessage: 'the local service is stopping' },
};

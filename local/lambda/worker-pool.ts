import type { ExecutionEnvironment } from './execution-environment.ts';
import type { InvocationResult } from './messages.ts';

/** The execution environments of one function. Invocations run in any of them. */
export interface WorkerPool {
  /**
   * Queues the invocation until an environment is free. The queue is first come, first served. Never rejects.
   */
  readonly invoke: (event: unknown, onStart?: () => void) => Promise<InvocationResult>;
  /** Starts an environment before its first invocation. */
  readonly warm: () => void;
  /** Ends all environments. */
  readonly stop: () => Promise<void>;
}

/** The limits of a pool. */
export interface PoolLimits {
  /** The number of invocations that one environment runs at once. */
  readonly invocationsEach: number;
  /** The greatest number of environments. */
  readonly environments: number;
  /** An environment ends after this many milliseconds without work. Without a value it never ends. */
  readonly idleMillis?: number;
}

/**
 * The limits for functions behind the gateway. AWS gives every concurrent request an environment of its own.
 * Here a burst of 200 requests would start 200 threads on a few cores, with no gain: the handlers wait for
 * the network nearly all of their time.
 */
export const sharedLimits: PoolLimits = { invocationsEach: 50, environments: 16 };

/**
 * The limits for tasks, schedules and events. An environment takes one invocation at a time, so that a crash
 * ends no other invocation.
 */
export const aloneLimits: PoolLimits = { invocationsEach: 1, environments: 48, idleMillis: 60_000 };

interface Waiting {
  readonly event: unknown;
  readonly onStart: (() => void) | undefined;
  readonly finish: (result: InvocationResult) => void;
}

/** Makes a pool. It starts an environment when an invocation finds none free. */
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

  function freeEnvironment(): ExecutionEnvironment | undefined {
    for (const environment of environments.keys()) {
      if (!environment.isUsable()) retire(environment);
      else if (environment.inFlight() < limits.invocationsEach) return environment;
    }
    return environments.size < limits.environments ? add() : undefined;
  }

  /**
   * Takes the environment out of the pool. Its open invocations may finish, then the environment ends itself.
   */
  function retire(environment: ExecutionEnvironment): void {
    clearTimeout(environments.get(environment));
    environments.delete(environment);
    if (environment.inFlight() > 0) retired.add(environment);
    else void environment.end();
  }

  function serveQueue(): void {
    for (let waiting = queue.shift(); waiting !== undefined; waiting = queue.shift()) {
      const environment = freeEnvironment();
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
    if (environment.inFlight() === 0) keepForReuse(environment);
    if (queue.length > 0) serveQueue();
  }

  function keepForReuse(environment: ExecutionEnvironment): void {
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
        serveQueue();
      });
    },
    warm: () => {
      if (!stopped && environments.size === 0) keepForReuse(add());
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

import { availableParallelism } from 'node:os';
import type { ExecutionEnvironment } from './execution-environment.ts';
import type { AnswerSink, InvocationResult } from './messages.ts';

/** What an invocation may have beside its event. */
export interface InvocationOptions {
  /** Gets the function that lets the invocation crash, once the invocation has begun. */
  readonly onStart?: (crash: () => void) => void;
  /** Takes the answer of a function that streams. */
  readonly sink?: AnswerSink | undefined;
}

/** The execution environments of one function. Invocations run in any of them. */
export interface WorkerPool {
  /** Queues the invocation, first come, first served. Never rejects. */
  readonly invoke: (event: unknown, options?: InvocationOptions) => Promise<InvocationResult>;
  readonly stop: () => Promise<void>;
}

export interface PoolLimits {
  /** The number of invocations that one environment runs at once. */
  readonly invocationsEach: number;
  /** The number of its invocations that work at once. The others wait for a provider or a timer. */
  readonly workingEach: number;
  /** The greatest number of environments. */
  readonly environments: number;
  /** Up to this number, an environment also starts when the present ones are busy. */
  readonly environmentsWhenBusy: number;
  /** An environment whose event loop has not turned for this long is blocked. */
  readonly blockedMillis: number;
  /** The old generation of an environment. Its invocations fail when it is full. */
  readonly heapMegabytes: number;
  /** An environment ends after this many milliseconds without work. */
  readonly idleMillis: number;
}

/** The limits of every function. An environment takes 25 to 45 MB here, so waiting invocations share it. */
export const poolLimits: PoolLimits = {
  invocationsEach: 256,
  workingEach: 16,
  environments: 8,
  // Two at least, so that one invocation that blocks its environment never stops the function.
  environmentsWhenBusy: Math.max(2, availableParallelism()),
  // An environment turns ten times a second. On an overloaded machine it gets its turn much less often.
  blockedMillis: 5_000,
  heapMegabytes: 1_024,
  idleMillis: 60_000,
};

/** In less memory there are fewer workers, with smaller heaps, which end earlier. */
export function poolLimitsIn(megabytes: number | undefined): PoolLimits {
  if (megabytes === undefined) return poolLimits;
  const environments = Math.max(1, Math.min(poolLimits.environments, Math.floor(megabytes / 512)));
  return {
    ...poolLimits,
    environments: environments + 1,
    environmentsWhenBusy: Math.min(environments, poolLimits.environmentsWhenBusy),
    heapMegabytes: Math.max(64, Math.min(poolLimits.heapMegabytes, Math.floor(megabytes / 8))),
    idleMillis: 10_000,
  };
}

const checkAgainMillis = 10;

interface Waiting {
  readonly event: unknown;
  readonly options: InvocationOptions;
  readonly finish: (result: InvocationResult) => void;
}

/** Makes a pool. It starts an environment when an invocation finds none free. */
export function createWorkerPool(start: () => ExecutionEnvironment, limits: PoolLimits): WorkerPool {
  const environments = new Map<ExecutionEnvironment, NodeJS.Timeout | undefined>();
  const retired = new Set<ExecutionEnvironment>();
  const queue: Waiting[] = [];
  let again: NodeJS.Timeout | undefined;
  let stopped = false;

  function add(): ExecutionEnvironment {
    const environment = start();
    environments.set(environment, undefined);
    return environment;
  }

  /** The environment for the next invocation. Undefined when the invocation has to wait. */
  function freeEnvironment(): ExecutionEnvironment | undefined {
    for (const environment of [...environments.keys()]) if (!environment.isUsable()) retire(environment);
    const withRoom = [...environments.keys()].filter((one) => one.inFlight() < limits.invocationsEach);
    const taking = withRoom.filter((one) => one.isTaking());
    const calm = taking.filter((one) => !one.isBusy());
    if (calm.length > 0) return emptiest(calm);
    if (environments.size < limits.environmentsWhenBusy) return add();
    if (taking.length > 0) return emptiest(taking);
    // Another environment would only take processor time from those that work.
    if (withRoom.length > 0) return undefined;
    return environments.size < limits.environments ? add() : undefined;
  }

  /** Takes the environment out of the pool. It ends after its open invocations. */
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
        again ??= setTimeout(checkAgain, checkAgainMillis);
        return;
      }
      void run(environment, waiting);
    }
  }

  /** An environment may take another invocation as soon as one of its own begins to wait. */
  function checkAgain(): void {
    again = undefined;
    serveQueue();
  }

  async function run(environment: ExecutionEnvironment, { event, options, finish }: Waiting): Promise<void> {
    clearTimeout(environments.get(environment));
    const { result, crash } = environment.invoke(event, options.sink);
    options.onStart?.(crash);
    finish(await result);
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
    const end = setTimeout(() => {
      if (environment.inFlight() === 0) retire(environment);
    }, limits.idleMillis);
    end.unref();
    environments.set(environment, end);
  }

  return {
    invoke: (event, options = {}) => {
      if (stopped) return Promise.resolve(refused);
      return new Promise((finish) => {
        queue.push({ event, options, finish });
        serveQueue();
      });
    },
    stop: async () => {
      stopped = true;
      clearTimeout(again);
      for (const { finish } of queue.splice(0)) finish(refused);
      const all = [...environments.keys(), ...retired];
      for (const timer of environments.values()) clearTimeout(timer);
      environments.clear();
      await Promise.all(all.map((environment) => environment.end()));
    },
  };
}

function emptiest(environments: readonly ExecutionEnvironment[]): ExecutionEnvironment | undefined {
  return environments.toSorted((a, b) => a.inFlight() - b.inFlight())[0];
}

const refused: InvocationResult = {
  ok: false,
  error: { errorType: 'Lambda.ServiceException', errorMessage: 'the local service is stopping' },
};

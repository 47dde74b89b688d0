import { randomUUID } from 'node:crypto';
import { Worker } from 'node:worker_threads';
import type {
  FunctionLogLine,
  InvocationResult,
  InvokeMessage,
  LambdaError,
  WorkerBootData,
  WorkerMessage,
} from './messages.ts';

/** The options with which one worker of a function starts. */
export interface EnvironmentOptions {
  readonly functionId: string;
  readonly boot: WorkerBootData;
  /** The worker's whole process.env. */
  readonly env: Readonly<Record<string, string>>;
  /** The time limit of one invocation, in real time. */
  readonly timeoutSeconds: number;
  readonly log: (line: FunctionLogLine) => void;
  /** Hears of each invocation that ended, with the processor time that it used. */
  readonly onUsed?: (cpuMillis: number) => void;
}

/** A function's execution environment: a worker thread that has loaded the bundle. */
export interface ExecutionEnvironment {
  /** Never rejects. A failure is a result, as in Lambda. */
  readonly invoke: (event: unknown) => Promise<InvocationResult>;
  readonly inFlight: () => number;
  /**
   * False after an invocation has timed out or the worker has ended. The worker then takes no further
   * invocations.
   */
  readonly isUsable: () => boolean;
  /** Ends the worker. Invocations in flight fail with Runtime.ExitError. */
  readonly end: () => Promise<void>;
}

const bootModule = new URL('./worker-boot.mjs', import.meta.url);

/**
 * Starts a worker. When the bundle cannot be loaded, every invocation of the worker fails with the reason.
 */
export function startEnvironment(options: EnvironmentOptions): ExecutionEnvironment {
  const worker = startWorker(options);
  const flights = new Map<string, (result: InvocationResult) => void>();
  let usable = true;
  let crash: LambdaError | undefined;
  // An invocation's time limit begins when the handler is loaded. A worker that starts beside 47 others loads
  // slowly, and that must not use up the limit.
  const ready = Promise.withResolvers<undefined>();

  function settle(requestId: string, result: InvocationResult): void {
    const finish = flights.get(requestId);
    if (finish === undefined) return; // The invocation has already timed out.
    flights.delete(requestId);
    if (flights.size === 0) worker.unref(); // An idle worker must not keep the process alive.
    finish(result);
    if (!usable && flights.size === 0) void worker.terminate();
  }

  function hear(message: WorkerMessage): void {
    switch (message.type) {
      case 'ready':
        ready.resolve(undefined);
        break;
      case 'log':
        options.log({ functionId: options.functionId, requestId: message.requestId, line: message.line });
        break;
      case 'used':
        options.onUsed?.(message.cpuMillis);
        break;
      case 'answered':
        settle(message.requestId, { ok: true, payload: JSON.parse(message.json) });
        break;
      case 'failed':
        settle(message.requestId, { ok: false, error: message.error });
        break;
      case 'crashed':
        crash = message.error;
    }
  }

  function failOpenInvocations(exitCode: number): void {
    usable = false;
    ready.resolve(undefined);
    for (const requestId of [...flights.keys()])
      settle(requestId, { ok: false, error: crash ?? exitError(requestId, exitCode) });
  }

  worker.on('message', hear);
  worker.on('error', (error: Error) => {
    crash = crashError(error);
  });
  worker.on('exit', failOpenInvocations);

  async function invoke(event: unknown): Promise<InvocationResult> {
    const requestId = randomUUID();
    const { promise, resolve } = Promise.withResolvers<InvocationResult>();
    flights.set(requestId, resolve);
    worker.ref();
    await ready.promise;
    if (!flights.has(requestId)) return promise;
    const millis = options.timeoutSeconds * 1_000;
    worker.postMessage({ requestId, event, deadline: Date.now() + millis } satisfies InvokeMessage);
    const limit = setTimeout(() => {
      // Nobody waits for this invocation any more. Other invocations in the same worker may finish.
      usable = false;
      settle(requestId, { ok: false, error: timeoutError(requestId, options.timeoutSeconds) });
    }, millis);
    try {
      return await promise;
    } finally {
      clearTimeout(limit);
    }
  }

  return {
    invoke,
    inFlight: () => flights.size,
    isUsable: () => usable,
    end: async () => {
      usable = false;
      await worker.terminate();
    },
  };
}

/** Starts the thread. It does not keep the process alive until it has work. */
function startWorker({ env, boot }: EnvironmentOptions): Worker {
  const worker = new Worker(bootModule, {
    env: { ...env },
    workerData: boot,
    execArgv: [],
    stdout: true,
    stderr: true,
  });
  worker.unref();
  return worker;
}

function timeoutError(requestId: string, seconds: number): LambdaError {
  return {
    errorType: 'Sandbox.Timedout',
    errorMessage: `RequestId: ${requestId} Error: Task timed out after ${seconds.toFixed(2)} seconds`,
  };
}

function crashError({ name, message, stack = '' }: Error): LambdaError {
  return { errorType: name, errorMessage: message, trace: stack.split('\n') };
}

function exitError(requestId: string, code: number): LambdaError {
  return {
    errorType: 'Runtime.ExitError',
    errorMessage: `RequestId: ${requestId} Error: Runtime exited with error: exit status ${code}`,
  };
}

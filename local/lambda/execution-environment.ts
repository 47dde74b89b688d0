import { randomUUID } from 'node:crypto';
import { Worker } from 'node:worker_threads';
import {
  type AnswerSink,
  createVitals,
  type FunctionLogLine,
  type InvocationResult,
  type LambdaError,
  type Vitals,
  type WorkerBootData,
  type WorkerMessage,
  type WorkerOrder,
} from './messages.ts';

export interface EnvironmentOptions {
  readonly functionId: string;
  readonly boot: Omit<WorkerBootData, 'vitals' | 'mostWorking'>;
  /** The worker's whole process.env. */
  readonly env: Readonly<Record<string, string>>;
  /** The time limit of one invocation, in real time. */
  readonly timeoutSeconds: number;
  /** A worker whose event loop has not turned for this long is blocked. */
  readonly blockedMillis: number;
  /** The number of invocations that work at the same time. The others wait, for example for AWS. */
  readonly mostWorking: number;
  readonly heapMegabytes: number;
  readonly log: (line: FunctionLogLine) => void;
  /** Called when an invocation has ended, with the processor time that it used. */
  readonly onUsed?: (cpuMillis: number) => void;
}

export interface RunningInvocation {
  /** Never rejects. A failure is a result, as in Lambda. */
  readonly result: Promise<InvocationResult>;
  /** Lets the invocation crash as if its environment had been killed. */
  readonly crash: () => void;
}

/** An invocation that has not ended. */
interface Flight {
  readonly finish: (result: InvocationResult) => void;
  readonly sink: AnswerSink | undefined;
}

/** A worker thread that has loaded the bundle. When one of its invocations crashes, the others go on. */
export interface ExecutionEnvironment {
  /** @param sink takes the answer of a function that streams. Without it the answer is thrown away */
  readonly invoke: (event: unknown, sink?: AnswerSink) => RunningInvocation;
  readonly inFlight: () => number;
  /** False after a crash, a timeout or the end of the worker: it takes no further invocations. */
  readonly isUsable: () => boolean;
  /** Whether few enough of its invocations work, so that one more may begin. */
  readonly isTaking: () => boolean;
  /** Whether one invocation keeps the worker from the others at present, because it uses the processor. */
  readonly isBusy: () => boolean;
  /** Whether one invocation has kept the worker from the others for so long that it may never end. */
  readonly isBlocked: () => boolean;
  /** Ends the worker. Invocations in flight fail with Runtime.ExitError. */
  readonly end: () => Promise<void>;
}

const bootModule = new URL('./worker-boot.mjs', import.meta.url);

/** Starts a worker. When its bundle cannot be loaded, every invocation fails with the reason. */
export function startEnvironment(options: EnvironmentOptions): ExecutionEnvironment {
  const vitals = createVitals();
  const worker = startWorker(options, vitals);
  let wokenAt = 0;
  /** How long the worker has not turned. An idle worker rests, so its time counts from its next invocation. */
  const stillMillis = (): number => Math.min(vitals.stillMillis(), Date.now() - wokenAt);
  const isBlocked = (): boolean => stillMillis() > options.blockedMillis;
  let told = 0;
  const tell = (order: WorkerOrder): void => worker.postMessage(order);
  const flights = new Map<string, Flight>();
  let usable = true;
  let crash: LambdaError | undefined;
  // The time limit begins when the handler is loaded, as a worker beside 47 others loads slowly.
  const ready = Promise.withResolvers<undefined>();

  function settle(requestId: string, result: InvocationResult): void {
    const flight = flights.get(requestId);
    if (flight === undefined) return; // The invocation has already timed out.
    flights.delete(requestId);
    if (flights.size === 0) worker.unref(); // An idle worker must not keep the process alive.
    flight.finish(result);
    if (!usable && flights.size === 0) void worker.terminate();
  }

  /** The worker takes no new invocation. It ends once its open invocations have ended. */
  function retireAfter(requestId: string, error: LambdaError): void {
    usable = false;
    settle(requestId, { ok: false, error });
  }

  async function pass(requestId: string, bytes: Uint8Array): Promise<void> {
    await flights.get(requestId)?.sink?.part(bytes);
    tell({ type: 'taken', requestId });
  }

  function hear(message: WorkerMessage): void {
    switch (message.type) {
      case 'head':
        flights.get(message.requestId)?.sink?.head(message.head);
        break;
      case 'part':
        void pass(message.requestId, message.bytes);
        break;
      case 'ended':
        flights.get(message.requestId)?.sink?.end();
        break;
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
        retireAfter(message.requestId, message.error);
        break;
      case 'thread-crashed':
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

  async function run(
    requestId: string,
    event: unknown,
    sink: AnswerSink | undefined,
  ): Promise<InvocationResult> {
    const { promise, resolve } = Promise.withResolvers<InvocationResult>();
    if (flights.size === 0) wokenAt = Date.now();
    flights.set(requestId, { finish: resolve, sink });
    worker.ref();
    await ready.promise;
    if (!flights.has(requestId)) return promise;
    const millis = options.timeoutSeconds * 1_000;
    tell({ type: 'invoke', requestId, event, deadline: Date.now() + millis });
    const limit = setTimeout(() => {
      // Others in the same worker may finish, unless this one blocks it: then the worker ends.
      retireAfter(requestId, timeoutError(requestId, options.timeoutSeconds));
      if (isBlocked()) void worker.terminate();
    }, millis);
    try {
      return await promise;
    } finally {
      clearTimeout(limit);
    }
  }

  return {
    invoke: (event, sink) => {
      const requestId = randomUUID();
      told += 1;
      const result = run(requestId, event, sink);
      // The worker gets the invocation when it is ready, and the crash must come after the invocation.
      return { result, crash: () => void ready.promise.then(() => tell({ type: 'crash', requestId })) };
    },
    inFlight: () => flights.size,
    isUsable: () => usable,
    isTaking: () => vitals.openCalls() + told - vitals.begun() < options.mostWorking,
    isBusy: () => flights.size > 0 && stillMillis() > busyMillis,
    isBlocked,
    end: async () => {
      usable = false;
      await worker.terminate();
    },
  };
}

/** A worker that does nothing but wait turns ten times a second. */
const busyMillis = 250;

/** Starts the thread. It does not keep the process alive until it has work. */
function startWorker(
  { env, boot, mostWorking, heapMegabytes }: EnvironmentOptions,
  { shared }: Vitals,
): Worker {
  const worker = new Worker(bootModule, {
    env: { ...env },
    workerData: { ...boot, mostWorking, vitals: shared } satisfies WorkerBootData,
    execArgv: [],
    name: boot.context['functionName'] ?? '',
    // A small young generation keeps a thread small. A handler has few objects at a time.
    resourceLimits: { maxYoungGenerationSizeMb: 8, maxOldGenerationSizeMb: heapMegabytes },
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

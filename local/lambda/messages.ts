/** The messages between the main thread and worker-boot.mjs, and the result of an invocation. */
/** A function's failure in Lambda's form. Retry and Catch of a state machine match `errorType`. */
export interface LambdaError {
  readonly errorType: string;
  readonly errorMessage: string;
  readonly trace?: readonly string[];
}

/** The result of an invocation. `payload` is the parsed JSON of the handler's return value. */
export type InvocationResult =
  | { readonly ok: true; readonly payload: unknown }
  | { readonly ok: false; readonly error: LambdaError };

/** Takes the parts of an answer that a function streams. */
export interface AnswerSink {
  /** What the function gave to HttpResponseStream.from(). It comes once, before the first part. */
  readonly head: (head: unknown) => void;
  /** Resolves when the function may write the next part. Never rejects. */
  readonly part: (bytes: Uint8Array) => Promise<void>;
  /** The answer is whole. The function may still run. */
  readonly end: () => void;
}

export type WorkerOrder = InvokeMessage | TakenMessage | CrashMessage;

/** Starts an invocation. `deadline` is real time, in milliseconds since 1970. */
export interface InvokeMessage {
  readonly type: 'invoke';
  readonly requestId: string;
  readonly event: unknown;
  readonly deadline: number;
}

/** The part that the worker sent last has been taken. */
export interface TakenMessage {
  readonly type: 'taken';
  readonly requestId: string;
}

/** Lets an invocation crash as if its environment had been killed. */
export interface CrashMessage {
  readonly type: 'crash';
  readonly requestId: string;
}

/** A message from the worker. After `thread-crashed` the worker ends. */
export type WorkerMessage =
  | { readonly type: 'ready' }
  | { readonly type: 'log'; readonly requestId: string | undefined; readonly line: string }
  /** The processor time of one invocation, roughly: other invocations may share the thread. */
  | { readonly type: 'used'; readonly cpuMillis: number }
  /** The head, the parts and the end of an answer that is streamed. Each part waits for its TakenMessage. */
  | { readonly type: 'head'; readonly requestId: string; readonly head: unknown }
  | { readonly type: 'part'; readonly requestId: string; readonly bytes: Uint8Array }
  | { readonly type: 'ended'; readonly requestId: string }
  | { readonly type: 'answered'; readonly requestId: string; readonly json: string }
  | { readonly type: 'failed'; readonly requestId: string; readonly error: LambdaError }
  /** One invocation has crashed. The other invocations of the worker go on. */
  | { readonly type: 'crashed'; readonly requestId: string; readonly error: LambdaError }
  | { readonly type: 'thread-crashed'; readonly error: LambdaError };

/** The data with which the worker starts. */
export interface WorkerBootData {
  /** The clock's shared memory. */
  readonly clock: SharedArrayBuffer;
  /** The shared memory with the state of the worker. */
  readonly vitals: SharedArrayBuffer;
  /** Number of open calls to AWS from which on an invocation that gets its provider's answer waits. */
  readonly mostWorking: number;
  /** The `file:` address of the bundle. */
  readonly module: string;
  /** The folder in which workers keep V8's compiled code of bundles for each other. */
  readonly compiled: string;
  readonly handler: string;
  /** Whether the worker runs with a lower priority. */
  readonly inBackground: boolean;
  /** The part of Lambda's context object that is the same for every invocation. */
  readonly context: Readonly<Record<string, string>>;
}

/** One line that a function has logged. `requestId` is absent for a line from outside an invocation. */
export interface FunctionLogLine {
  readonly functionId: string;
  readonly requestId: string | undefined;
  readonly line: string;
}

// The shared memory in which a worker reports its state. worker-boot.mjs writes the cells by number.

/** When the worker's event loop last turned, in real milliseconds since 1970. 0 until the worker has started. */
const turnCell = 0;
/** The worker's open calls to AWS. */
const callsCell = 1;
/** How many invocations the worker has begun so far. */
const begunCell = 2;

export type Vitals = ReturnType<typeof createVitals>;

/** What the main thread reads of a worker, without asking it. */
export function createVitals() {
  const shared = new SharedArrayBuffer(3 * BigInt64Array.BYTES_PER_ELEMENT);
  const cells = new BigInt64Array(shared);
  const read = (cell: number): number => Number(Atomics.load(cells, cell));
  return {
    shared,
    /** Milliseconds since the event loop last turned. 0 for a worker that still loads its bundle. */
    stillMillis: (): number => (read(turnCell) === 0 ? 0 : Date.now() - read(turnCell)),
    openCalls: (): number => read(callsCell),
    begun: (): number => read(begunCell),
  };
}

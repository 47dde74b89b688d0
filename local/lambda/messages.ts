/** What main thread and worker-boot.mjs say to each other, and what an invocation gives. */

/** A function's failure as Lambda words it; `errorType` is what Retry and Catch match. */
export interface LambdaError {
  readonly errorType: string;
  readonly errorMessage: string;
  readonly trace?: readonly string[];
}

/** How an invocation ended. `payload` is the parsed JSON of what the handler returned. */
export type InvocationResult =
  { readonly ok: true; readonly payload: unknown } | { readonly ok: false; readonly error: LambdaError };

/** To the worker. `deadline` is real time, in milliseconds since 1970. */
export interface InvokeMessage {
  readonly requestId: string;
  readonly event: unknown;
  readonly deadline: number;
}

/** From the worker. After `crashed` the worker ends. */
export type WorkerMessage =
  | { readonly type: 'ready' }
  | { readonly type: 'log'; readonly requestId: string | undefined; readonly line: string }
  /** Of one invocation, more or less: others may share the thread. */
  | { readonly type: 'used'; readonly cpuMillis: number }
  | { readonly type: 'answered'; readonly requestId: string; readonly json: string }
  | { readonly type: 'failed'; readonly requestId: string; readonly error: LambdaError }
  | { readonly type: 'crashed'; readonly error: LambdaError };

/** What the worker is started with. */
export interface WorkerBootData {
  /** The clock's shared cells. */
  readonly clock: SharedArrayBuffer;
  /** file: address of the bundle. */
  readonly module: string;
  /** Folder in which V8's code of bundles is kept between workers. */
  readonly compiled: string;
  /** The export that is the handler. */
  readonly handler: string;
  /** Whether what it does may wait for the processor. */
  readonly inBackground: boolean;
  /** The part of Lambda's context object that is the same for every invocation. */
  readonly context: Readonly<Record<string, string>>;
}

/** One line that a function wrote. `requestId` is absent for what it wrote outside of an invocation. */
export interface FunctionLogLine {
  readonly functionId: string;
  readonly requestId: string | undefined;
  readonly line: string;
}

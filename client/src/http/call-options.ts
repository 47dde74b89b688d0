/** The options that all calls share. */

/** Options of every call. */
export interface CallOptions {
  /** Ends the call, its retries and its waits. Its reason is thrown. */
  readonly signal?: AbortSignal | undefined;
  /** The time limit of each attempt in milliseconds, instead of that of the client. */
  readonly timeoutMs?: number | undefined;
}

/** Options of a call that sends a POST. */
export interface PostOptions extends CallOptions {
  /** 1 to 255 printable ASCII characters. Without it, the client takes a new UUID for each call. */
  readonly idempotencyKey?: string | undefined;
}

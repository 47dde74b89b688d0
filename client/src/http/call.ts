/** What all calls share: their options, and the promise that they return. */

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

/** A value, and the answer that it was read from. */
export interface Answered<Value> {
  readonly value: Value;
  readonly response: Response;
}

/**
 * A promise of the value of an answer. `asResponse()` gives the answer itself, for its headers.
 *
 * @example
 * ```ts
 * const response = await darkroom.images.quote({ model: 'sandbox-sketch', prompt: 'a lake' }).asResponse();
 * console.log(response.status, response.headers.get('x-darkroom-cost')); // 200 0.01
 * ```
 */
export interface ApiPromise<Value> extends Promise<Value> {
  /** The answer with its status, headers and body. An answer that is an error is thrown as without it. */
  asResponse(): Promise<Response>;
}

export function apiPromise<Value>(answered: Promise<Answered<Value>>): ApiPromise<Value> {
  const promise = answered.then(({ value }) => value);
  return Object.assign(promise, {
    asResponse: async (): Promise<Response> => {
      // Both promises reject with the same error. The one that the caller does not await must not be
      // unhandled.
      promise.catch(() => undefined);
      return (await answered).response;
    },
  });
}

/** The version of this package, which the header User-Agent names. A test compares it with package.json. */
export const version: string = '0.1.0';

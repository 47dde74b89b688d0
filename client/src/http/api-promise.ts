/** The promise that every call of the API returns. */

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
      // Both promises reject with the same error. The one that the caller does not look at is not unhandled.
      promise.catch(() => undefined);
      return (await answered).response;
    },
  });
}

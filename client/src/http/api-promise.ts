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
export class ApiPromise<Value> extends Promise<Value> {
  readonly #answered: Promise<Answered<Value>>;

  /** What `then` returns is a plain promise. */
  static override get [Symbol.species](): PromiseConstructor {
    return Promise;
  }

  /** @internal */
  constructor(answered: Promise<Answered<Value>>) {
    super((resolve, reject) => {
      answered.then(({ value }) => resolve(value), reject);
    });
    this.#answered = answered;
  }

  /** The answer with its status, headers and body. An answer that is an error is thrown as without it. */
  async asResponse(): Promise<Response> {
    // Both promises reject with the same error. The one that the caller does not look at is not unhandled.
    this.catch(() => undefined);
    return (await this.#answered).response;
  }
}

import { ApiError } from '../errors.ts';
import { type Answered, apiPromise, type ApiPromise, type PostOptions } from '../http/call.ts';
import { longestHold, type TimeLimit, type Transport } from '../http/transport.ts';
import type { CompletedCreation, Creation, ImageRequest, Quote } from '../types/generated.ts';
import { type CreationCalls, longestWaitMillis, type WaitOptions } from './creations.ts';

/** A request for one image, which gives one creation. */
export type OneImage = ImageRequest & { readonly count?: null | undefined };
/** A request that says how many images it wants: 1 to 4. */
export type SeveralImages = ImageRequest & { readonly count: number };

/** What a request for several images made, in the order of their seeds. */
export interface Creations {
  readonly data: readonly Creation[];
}

/** Options of a submission. */
export interface GenerateOptions extends PostOptions {
  /** Seconds for which the service holds its answer until the creation has ended: 0 to 20. */
  readonly wait?: number | undefined;
}

/** Options of a submission whose end is awaited. */
export interface GenerateAndWaitOptions extends WaitOptions {
  /** 1 to 255 printable ASCII characters. Without it, the client takes a new UUID. */
  readonly idempotencyKey?: string | undefined;
}

/** Submits requests for images. */
export class ImageCalls {
  readonly #transport: Transport;
  readonly #creations: CreationCalls;

  /** @internal */
  constructor(transport: Transport, creations: CreationCalls) {
    this.#transport = transport;
    this.#creations = creations;
  }

  /**
   * Submits a request and returns its creation, which is usually `queued`. With `wait`, the creation may have
   * completed or failed already. The request is charged once, however often it has to be repeated.
   *
   * @example
   * ```ts
   * const creation = await darkroom.images.generate(
   *   { model: 'sandbox-sketch', prompt: 'a lighthouse', metadata: { order: '4711' } },
   *   { idempotencyKey: 'order-4711' },
   * );
   * console.log(creation.status, creation.cost); // queued 0.01
   * ```
   */
  generate(request: OneImage, options?: GenerateOptions): ApiPromise<Creation>;
  /**
   * Submits a request for `count` images, and returns a list with a creation for each. All are charged, or
   * none.
   */
  generate(request: SeveralImages, options?: GenerateOptions): ApiPromise<Creations>;
  generate(request: ImageRequest, options: GenerateOptions = {}): ApiPromise<Creation | Creations> {
    return apiPromise(this.#generate(request, options));
  }

  /**
   * Submits a request and waits for its image. Throws GenerationFailed when the creation fails, and
   * TimeoutError when it has not ended in time; the creation then continues. While the service is away, the
   * request is sent again with the same key, until the time limit. With `count`, it gives all creations, and throws
   * when one of them fails.
   *
   * @example
   * ```ts
   * const done = await darkroom.images.generateAndWait({ model: 'sandbox-sketch', prompt: 'a lake at dawn' });
   * console.log(done.status, done.results.length); // completed 1
   * ```
   */
  async generateAndWait(request: OneImage, options?: GenerateAndWaitOptions): Promise<CompletedCreation>;
  async generateAndWait(
    request: SeveralImages,
    options?: GenerateAndWaitOptions,
  ): Promise<CompletedCreation[]>;
  async generateAndWait(
    request: ImageRequest,
    options: GenerateAndWaitOptions = {},
  ): Promise<CompletedCreation | CompletedCreation[]> {
    const { idempotencyKey, ...wait } = options;
    const { timeoutMs = longestWaitMillis, signal } = wait;
    const within = { started: this.#transport.machinery.now(), timeoutMs };
    const held = { idempotencyKey, signal, wait: longestHold };
    const { value } = await this.#generate(request, held, within);
    const end = (creation: Creation): Promise<CompletedCreation> => {
      wait.onPoll?.(creation);
      return this.#creations.waitSince(within.started, creation, wait);
    };
    return 'data' in value ? Promise.all(value.data.map(end)) : end(value);
  }

  /**
   * What the request would cost, and whether the account can pay for it. Nothing is charged.
   *
   * @example
   * ```ts
   * const { cost, sufficient } = await darkroom.images.quote({ model: 'sandbox-pro', prompt: 'a boat', resolution: '4K' });
   * console.log(cost, sufficient); // 0.24 true
   * ```
   */
  quote(request: ImageRequest, options: PostOptions = {}): ApiPromise<Quote> {
    return this.#transport.call({ method: 'POST', path: '/images/quote', body: request, options });
  }

  async #generate(
    request: ImageRequest,
    { wait = 0, ...options }: GenerateOptions,
    within?: TimeLimit,
  ): Promise<Answered<Creation | Creations>> {
    try {
      return await this.#transport.answer<Creation | Creations>({
        method: 'POST',
        path: '/images/generate',
        body: request,
        options,
        hold: wait,
        within,
      });
    } catch (error) {
      // A held answer reports a failed creation by an error. The creation says more.
      const id = error instanceof ApiError ? error.details['creation_id'] : undefined;
      if (typeof id !== 'string') throw error;
      return await this.#creations.read(id, options).catch(() => {
        throw error;
      });
    }
  }
}

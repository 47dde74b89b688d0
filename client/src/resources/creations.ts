import { GenerationFailed, TimeoutError } from '../errors.ts';
import {
  type Answered,
  apiPromise,
  type ApiPromise,
  type CallOptions,
  type PostOptions,
} from '../http/call.ts';
import { idInPath } from '../http/id-in-path.ts';
import { beforeEnd, isTemporary } from '../http/retry.ts';
import type { TimeLimit, Transport } from '../http/transport.ts';
import { listAt, type Pages } from '../pages.ts';
import type { CompletedCreation, Creation, CreationStatus } from '../types/generated.ts';

/** Which creations to list. */
export interface CreationFilter {
  readonly status?: CreationStatus | undefined;
  readonly model?: string | undefined;
  /** Only creations for this user of yours. */
  readonly user?: string | undefined;
  /** The size of a page: 1 to 100. */
  readonly limit?: number | undefined;
  /** The `next_cursor` of the page before. */
  readonly cursor?: string | undefined;
}

/** Options of a wait. */
export interface WaitOptions {
  /** For how many milliseconds to wait: 300,000 by default. */
  readonly timeoutMs?: number | undefined;
  /** Ends the wait. Its reason is thrown, and the creation continues. */
  readonly signal?: AbortSignal | undefined;
  /** Is called with the creation when it is accepted, and after each poll. */
  readonly onPoll?: ((creation: Creation) => void) | undefined;
}

/** The time limit of a wait whose caller names none. */
export const longestWaitMillis = 300_000;
/** The pace of polls if an answer names none. The service refuses less than a second. */
const paceMillis = 2000;

/** Reads, awaits, lists and cancels creations. */
export class CreationCalls {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * A creation as it is now.
   *
   * @example
   * ```ts
   * const { id } = await darkroom.images.generate({ model: 'sandbox-sketch', prompt: 'a boat' });
   * const creation = await darkroom.creations.get(id);
   * console.log(creation.prompt); // a boat
   * ```
   */
  get(id: string, options: CallOptions = {}): ApiPromise<Creation> {
    return apiPromise(this.read(id, options));
  }

  /** @internal */
  async read(id: string, options: CallOptions, within?: TimeLimit): Promise<Answered<Creation>> {
    return this.#transport.answer<Creation>({ method: 'GET', path: pathOf(id), options, within });
  }

  /**
   * Polls a creation, at the pace that the service names, until it has completed. Throws GenerationFailed
   * when it has failed, and TimeoutError when it has not ended in time. A poll that fails for a while, for
   * example because the network is away, does not end the wait.
   *
   * @example
   * ```ts
   * const creation = await darkroom.images.generate({ model: 'sandbox-sketch', prompt: 'a boat' });
   * const done = await darkroom.creations.wait(creation, { timeoutMs: 60_000 });
   * console.log(done.status); // completed
   * ```
   */
  async wait(creation: Creation | string, options: WaitOptions = {}): Promise<CompletedCreation> {
    return this.waitSince(this.#transport.machinery.now(), creation, options);
  }

  /** @internal The time limit counts from `started`. */
  async waitSince(
    started: number,
    creation: Creation | string,
    { timeoutMs = longestWaitMillis, signal, onPoll }: WaitOptions,
  ): Promise<CompletedCreation> {
    const { now, sleep } = this.#transport.machinery;
    const id = idOf(creation);
    const within = { started, timeoutMs, leastPauseMs: paceMillis };
    const end = started + timeoutMs;
    const atEnd = async (cause?: Error): Promise<never> => {
      await sleep(Math.max(0, end - now()), signal);
      const trouble = cause ? ` The last trouble: ${cause.message}` : '';
      throw new TimeoutError(`The creation ${id} has not ended within ${timeoutMs / 1000} s.${trouble}`, {
        creationId: id,
        cause,
      });
    };
    let last = typeof creation === 'string' ? undefined : creation;
    let due = (last && this.#transport.dueOf(last)) ?? now();
    for (;;) {
      if (last?.status === 'completed') return last;
      if (last?.status === 'failed') throw new GenerationFailed(last);
      signal?.throwIfAborted();
      const waitMs = beforeEnd(Math.max(0, due - now()), end - now());
      if (waitMs === undefined) return atEnd();
      await sleep(waitMs, signal);
      const polled = await this.read(id, { signal }, within).catch(async (error: unknown) => {
        if (!isTemporary(error)) throw error;
        return atEnd(error);
      });
      last = polled.value;
      onPoll?.(last);
      due = this.#transport.dueOf(last) ?? now() + paceMillis;
    }
  }

  /**
   * The creations of the account, the newest first. Iterate over them all, or take one `page()`.
   *
   * @example
   * ```ts
   * for await (const creation of darkroom.creations.list({ status: 'failed' })) {
   *   console.error(creation.id, creation.error);
   * }
   * const page = await darkroom.creations.list({ limit: 5 }).page();
   * console.log(page.data.length <= 5); // true
   * ```
   */
  list(filter: CreationFilter = {}, options: CallOptions = {}): Pages<Creation> {
    return listAt(this.#transport, '/creations', filter, options);
  }

  /**
   * Cancels a creation, as long as its provider can stop. It is then `failed` with `cancelled_at`, and its
   * charge is refunded. Throws InvalidRequest with the reason `not_cancellable` when it is too late.
   *
   * @example
   * ```ts
   * const request = { model: 'sandbox-sketch', prompt: 'a boat [sandbox:delay=5s]' };
   * const creation = await darkroom.images.generate(request, { wait: 1 });
   * try {
   *   const cancelled = await darkroom.creations.cancel(creation);
   *   console.error(cancelled.amount_refunded);
   * } catch (error) {
   *   // The sandbox has begun to paint, and cannot stop.
   *   if (!(error instanceof InvalidRequest)) throw error;
   *   console.log(error.reason); // not_cancellable
   * }
   * ```
   */
  cancel(creation: Creation | string, options: PostOptions = {}): ApiPromise<Creation> {
    return this.#transport.call({ method: 'POST', path: `${pathOf(creation)}/cancel`, options });
  }

  /**
   * Erases the content of a creation that has ended: prompt, metadata, user, webhook and images. Its cost and
   * status stay, with `erased_at`. A repetition changes nothing. Throws InvalidRequest with the reason
   * `not_deletable` while the creation is open.
   *
   * @example
   * ```ts
   * const creation = await darkroom.images.generate({ model: 'sandbox-sketch', prompt: 'a boat' });
   * await darkroom.creations.wait(creation);
   * await darkroom.creations.delete(creation);
   * console.log((await darkroom.creations.get(creation.id)).prompt); // null
   * ```
   */
  delete(creation: Creation | string, options: CallOptions = {}): ApiPromise<void> {
    return this.#transport.call({ method: 'DELETE', path: pathOf(creation), options });
  }

  /**
   * Deletes the images of a completed creation. Their addresses are dead within a minute; all else stays. A repetition
   * changes nothing. Throws InvalidRequest with the reason `not_deletable` when the creation is not completed.
   *
   * @example
   * ```ts
   * const creation = await darkroom.images.generateAndWait({ model: 'sandbox-sketch', prompt: 'a boat' });
   * await darkroom.creations.deleteResults(creation);
   * console.log((await darkroom.creations.get(creation.id)).prompt); // a boat
   * ```
   */
  deleteResults(creation: Creation | string, options: CallOptions = {}): ApiPromise<void> {
    return this.#transport.call({ method: 'DELETE', path: `${pathOf(creation)}/results`, options });
  }
}

function pathOf(creation: Creation | string): string {
  return `/creations/${idInPath(idOf(creation))}`;
}

/** @internal */
export function idOf(creation: Creation | string): string {
  return typeof creation === 'string' ? creation : creation.id;
}

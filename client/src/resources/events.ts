import { type Answered, apiPromise, type ApiPromise, type CallOptions } from '../http/call.ts';
import { longestHold, type TimeLimit, type Transport } from '../http/transport.ts';
import type { Event, EventPage } from '../types/generated.ts';

/** Which events to read. */
export interface EventQuery {
  /** The `next_cursor` of the page before. Without it, the events from now on. */
  readonly after?: string | undefined;
  /** 1 to 100. */
  readonly limit?: number | undefined;
  /** Seconds for which the service holds its answer until there is an event: 0 to 20. */
  readonly wait?: number | undefined;
  /** `notices`: the notices of the account as well. */
  readonly include?: 'notices' | undefined;
}

/** Options of an endless reading. */
export interface FollowOptions extends CallOptions {
  /** The cursor to go on from. Without it, the events from now on. */
  readonly after?: string | undefined;
  /** `notices` also shows the notices of the account. */
  readonly include?: 'notices' | undefined;
  /**
   * Is called, and awaited, with a new cursor as soon as the loop has finished with every event before it.
   * A program that keeps the cursor continues after a restart without missing an event.
   */
  readonly onCursor?: ((cursor: string) => void | Promise<void>) | undefined;
}

/** Two held reads an account at most: a third is answered at once, and must not become a busy loop. */
const leastPaceMillis = 1000;

/** Reads the events of creations. */
export class EventCalls {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * One page of events, the oldest first. The same cursor gives the same events again.
   *
   * @example
   * ```ts
   * const { next_cursor: after } = await darkroom.events.list();
   * await darkroom.images.generateAndWait({ model: 'sandbox-sketch', prompt: 'a lake' });
   * const page = await darkroom.events.list({ after, wait: 20 });
   * console.log(page.data[0]?.event); // creation.completed
   * ```
   */
  list(query: EventQuery = {}, options: CallOptions = {}): ApiPromise<EventPage> {
    return apiPromise(this.#read(query, options));
  }

  /**
   * Every event from now on, or after a cursor, without an end. Abort the signal, or leave the loop, to
   * stop. A trouble that may pass does not end the reading, however long it lasts.
   *
   * @example
   * ```ts
   * const { next_cursor: after } = await darkroom.events.list();
   * await darkroom.images.generate({ model: 'sandbox-sketch', prompt: 'a lake' });
   * for await (const { payload } of darkroom.events.follow({ after })) {
   *   if ('event' in payload) console.log(payload.event, payload.status); // creation.completed completed
   *   break;
   * }
   * ```
   */
  async *follow({ after, include, onCursor, ...options }: FollowOptions = {}): AsyncGenerator<
    Event,
    void,
    undefined
  > {
    const { machinery } = this.#transport;
    let cursor = after;
    for (;;) {
      options.signal?.throwIfAborted();
      const started = machinery.now();
      // The first reading without a cursor gives the one of this moment: it is not held.
      const wait = cursor === undefined ? undefined : longestHold;
      // Read until there is an answer, or an error that stays.
      const within = { started, timeoutMs: Infinity };
      const { value: page } = await this.#read({ after: cursor, wait, include }, options, within);
      yield* page.data;
      if (page.next_cursor !== cursor) await onCursor?.(page.next_cursor);
      if (page.data.length === 0 && cursor !== undefined) {
        await machinery.sleep(Math.max(0, started + leastPaceMillis - machinery.now()), options.signal);
      }
      cursor = page.next_cursor;
    }
  }

  #read(query: EventQuery, options: CallOptions, within?: TimeLimit): Promise<Answered<EventPage>> {
    return this.#transport.answer<EventPage>({
      method: 'GET',
      path: '/events',
      query: { ...query },
      options,
      hold: query.wait,
      within,
    });
  }
}

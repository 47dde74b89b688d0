/**
 * Brings events to a local server, in order, and remembers each that the server has taken.
 *
 *   read a page ──▶ forward an event until the server answers ──▶ note its id ──▶ … ──▶ move the cursor
 *
 * A kill between the server's answer and the note forwards one event again, with the same webhook-id. No kill
 * skips an event.
 */
import { isTemporary, pauseAfter } from '../../src/http/retry.ts';
import type { Machinery } from '../../src/http/machinery.ts';
import type { Event, EventPage } from '../../src/types/generated.ts';
import type { CursorStore, Place } from './cursor-file.ts';
import type { Forwarded } from './forward.ts';

/** An attempt that ended: with a status, or with none in time. */
export interface Delivery {
  readonly event: Event;
  /** Undefined when the server did not answer in time. */
  readonly status: number | undefined;
  readonly millis: number;
  /** The person requested it again. */
  readonly isRepeated: boolean;
}

export interface ListenerOptions {
  /** Reads a page. Without `after`, the page holds nothing but the cursor of now. */
  readonly read: (query: { readonly after?: string; readonly wait?: number }) => Promise<EventPage>;
  /** Sends an event once. */
  readonly send: (event: Event) => Promise<Exclude<Forwarded, { kind: 'untrusted' }>>;
  readonly store: CursorStore;
  /** Which events to forward. The others are only passed by. */
  readonly wants: (event: Event) => boolean;
  /** Whether events of the time before are wanted, back to the login. */
  readonly looksBack: boolean;
  readonly machinery: Machinery;
  readonly signal: AbortSignal;
  readonly tell: {
    readonly delivered: (delivery: Delivery) => void;
    /** Called once per outage of the server. */
    readonly waitsForServer: (code: string) => void;
    /** Called once per outage in which the service cannot be reached. */
    readonly waitsForService: (error: Error) => void;
    readonly isBack: () => void;
  };
}

export interface Listener {
  /** Runs until the signal is aborted, or the service refuses for good. */
  readonly run: () => Promise<void>;
  /** Sends the last event again. False when there is none. */
  readonly repeat: () => Promise<boolean>;
}

const longestHoldSeconds = 20;
/** A read that is not held answers at once: it must not become a busy loop. */
const leastPaceMillis = 1000;
/** The waits for a server that is away: 250 ms, doubled up to 2 s. */
const serverWaitMillis = { first: 250, longest: 2000 } as const;

export function createListener(options: ListenerOptions): Listener {
  const { store, machinery, signal, tell } = options;
  let last: Event | undefined;
  // One attempt after the other: a repetition never overtakes.
  let turn: Promise<unknown> = Promise.resolve();
  const inTurn = async <Value>(work: () => Promise<Value>): Promise<Value> => {
    const mine = turn.then(work);
    turn = mine.catch(() => undefined);
    return mine;
  };

  const deliver = async (event: Event, isRepeated: boolean): Promise<void> => {
    for (let failures = 0; ; failures += 1) {
      const started = machinery.now();
      const sent = await options.send(event);
      if (sent.kind !== 'away') {
        const status = sent.kind === 'answered' ? sent.status : undefined;
        tell.delivered({ event, status, millis: machinery.now() - started, isRepeated });
        return;
      }
      if (failures === 0) tell.waitsForServer(sent.code);
      const { first, longest } = serverWaitMillis;
      await machinery.sleep(Math.min(longest, first * 2 ** failures), signal);
    }
  };

  /** Reads until an answer comes: a laptop that slept has no network for a while. */
  const read = async (query: { after?: string; wait?: number }): Promise<EventPage> => {
    for (let failures = 1; ; failures += 1) {
      try {
        const page = await options.read(query);
        if (failures > 1) tell.isBack();
        return page;
      } catch (error) {
        if (signal.aborted || !isTemporary(error)) throw error;
        if (failures === 1) tell.waitsForService(error);
        await machinery.sleep(pauseAfter(error, failures, machinery.random), signal);
      }
    }
  };

  /** Where to begin: where the last listener ended, or now. */
  const firstPlace = async (): Promise<Place> => {
    const stored = await store.read();
    if (stored && (stored.isOfLogin !== true || options.looksBack)) return stored;
    const place = { after: (await read({})).next_cursor, taken: [] };
    await store.write(place);
    return place;
  };

  const run = async (): Promise<void> => {
    let place = await firstPlace();
    for (;;) {
      signal.throwIfAborted();
      const started = machinery.now();
      const after: string = place.after;
      const page = await read({ after, wait: longestHoldSeconds });
      for (const event of page.data) {
        if (place.taken.includes(event.id)) continue;
        if (options.wants(event)) {
          last = event;
          await inTurn(async () => deliver(event, false));
        }
        place = { after, taken: [...place.taken, event.id] };
        await store.write(place);
      }
      if (page.next_cursor !== after) {
        place = { after: page.next_cursor, taken: [] };
        await store.write(place);
      }
      if (page.data.length === 0) {
        await machinery.sleep(Math.max(0, started + leastPaceMillis - machinery.now()), signal);
      }
    }
  };

  return {
    run,
    repeat: async () => {
      const event = last;
      if (!event) return false;
      await inTurn(async () => deliver(event, true));
      return true;
    },
  };
}

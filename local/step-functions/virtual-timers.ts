import * as FakeTimers from '@sinonjs/fake-timers';
import { isObject } from '../json-object.ts';

/** The timers of a thread whose time another part of the code sets. Instants are milliseconds since 1970. */
export interface VirtualTimers {
  /**
   * Sets the time to the instant and fires all timers that are due by then, in order. An instant in the past
   * changes nothing.
   */
  readonly flowTo: (instant: number) => void;
  /** The instant at which the next timer is due. */
  readonly next: () => number | undefined;
  /** Resolves when every promise that could resolve has resolved. */
  readonly settled: () => Promise<void>;
  /** Calls back after this many real milliseconds. Returns a function that cancels the call. */
  readonly inReal: (millis: number, callback: () => void) => () => void;
}

/** Replaces this thread's setTimeout, clearTimeout and Date for good. */
export function installVirtualTimers(now: number): VirtualTimers {
  const {
    setTimeout: realSetTimeout,
    clearTimeout: realClearTimeout,
    setImmediate: realSetImmediate,
  } = globalThis;
  const clock = FakeTimers.install({ now, toFake: ['setTimeout', 'clearTimeout', 'Date'] });
  return {
    flowTo: (instant) => {
      if (instant > clock.now) clock.tick(instant - clock.now);
    },
    next: () => earliest(clock),
    settled: () =>
      new Promise((resolve) => {
        realSetImmediate(resolve);
      }),
    inReal: (millis, callback) => {
      const timer = realSetTimeout(callback, millis);
      return () => realClearTimeout(timer);
    },
  };
}

/** The library keeps its timers in a map that is missing from its types. */
function earliest(clock: FakeTimers.Clock): number | undefined {
  const timers: unknown[] =
    'timers' in clock && clock.timers instanceof Map ? [...clock.timers.values()] : [];
  const instants = timers.flatMap((timer) =>
    isObject(timer) && typeof timer['callAt'] === 'number' ? [timer['callAt']] : [],
  );
  return instants.length === 0 ? undefined : Math.min(...instants);
}

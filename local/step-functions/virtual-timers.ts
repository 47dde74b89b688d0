import * as FakeTimers from '@sinonjs/fake-timers';

/** The timers of a thread whose time is told to it. Instants are milliseconds since 1970. */
export interface VirtualTimers {
  /** Fires all timers due until then, in order. An instant in the past does nothing. */
  readonly flowTo: (instant: number) => void;
  /** When the next timer is due. */
  readonly next: () => number | undefined;
  /** Resolves when all promises that could be resolved have been. */
  readonly settled: () => Promise<void>;
  /** The thread's real timer: calls back after that many milliseconds; answers how to call it off. */
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

/** The library keeps its timers in a map that its types leave out. */
function earliest(clock: FakeTimers.Clock): number | undefined {
  const { timers } = clock as unknown as { timers?: Map<number, { callAt: number }> };
  let next: number | undefined;
  for (const { callAt } of timers?.values() ?? []) if (next === undefined || callAt < next) next = callAt;
  return next;
}

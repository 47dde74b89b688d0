/**
 * Virtual time. The timers and the Date of this process stand still until the simulation moves them on, one
 * timer at a time. After each timer, everything that can go on without further time does so.
 */
import * as FakeTimers from '@sinonjs/fake-timers';
import { createStream } from './dice.ts';
import { createTimerQueue, Timer } from './timer-queue.ts';

/** Wraps the callback of a timer. `stop` ends the timer; only an interval has it. */
export type TimerGuard = (callback: () => void, stop: (() => void) | undefined) => () => void;

export interface VirtualTime {
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** Sets a timer that the guard does not wrap. Returns a function that clears it. */
  readonly after: (millis: number, callback: () => void) => () => void;
  /** From now on the guard wraps each timer that is set through the global functions. */
  readonly guardTimers: (guard: TimerGuard) => void;
  /** Fires the next timer and lets every promise settle that depends on it. False when there is no timer. */
  readonly step: () => Promise<boolean>;
  /** Does the same with all timers of the next instant together. */
  readonly leap: () => Promise<boolean>;
  /** Lets every promise settle that needs no further time. */
  readonly settle: () => Promise<void>;
  /** Drops all timers and the guard, sets the time, and seeds Math.random anew. */
  readonly reset: (now: number, seed: number) => void;
  /** Gives the process its own timers, Date and Math.random back. */
  readonly end: () => void;
}

const unguarded: TimerGuard = (callback) => callback;

/** Number of immediates that are set at once. */
const batch = 100;

/**
 * Node lets every promise settle between two immediates. It runs immediates that were set together in one
 * turn of its event loop, and a turn asks the operating system for events, which takes longer than the rest.
 */
function createSettler(later: typeof setImmediate): () => Promise<void> {
  let left = 0;
  let resume: (() => void) | undefined;
  const run = (): void => {
    left -= 1;
    resume?.();
    resume = undefined;
  };
  return () =>
    new Promise((resolve) => {
      resume = resolve;
      if (left > 0) return;
      for (left = 0; left < batch; left += 1) later(run);
    });
}

/** Takes over the timers, the Date and the Math.random of this process. */
export function takeTime(): VirtualTime {
  const { setImmediate: later, setTimeout, setInterval, clearTimeout, clearInterval } = globalThis;
  const random = Math.random;
  const queue = createTimerQueue();
  // The library's own timers can do more than this queue, and a run with them takes 8 % longer.
  const clock = FakeTimers.install({ now: 0, toFake: ['Date'] });
  let guard = unguarded;
  const clear = (timer: Timer | NodeJS.Timeout | undefined): void => {
    if (timer instanceof Timer) timer.callback = undefined;
    else clearTimeout(timer);
  };
  Object.assign(globalThis, {
    setTimeout: (callback: (...args: unknown[]) => void, millis?: number, ...args: unknown[]) =>
      queue.set(
        guard(() => {
          callback(...args);
        }, undefined),
        millis ?? 0,
      ),
    setInterval: (callback: (...args: unknown[]) => void, millis?: number, ...args: unknown[]) => {
      const stop = (): void => {
        clear(timer);
      };
      const timer = queue.set(
        guard(() => {
          callback(...args);
        }, stop),
        millis ?? 0,
        'repeats',
      );
      return timer;
    },
    clearTimeout: clear,
    clearInterval: clear,
  });
  const settle = createSettler(later);
  const showTime = (now: number): void => {
    clock.setSystemTime(now);
  };
  return {
    now: queue.now,
    after: (millis, callback) => {
      const timer = queue.set(callback, millis);
      return () => {
        clear(timer);
      };
    },
    guardTimers: (next) => {
      guard = next;
    },
    settle,
    step: async () => {
      if (!queue.fireNext(showTime)) return false;
      await settle();
      return true;
    },
    leap: async () => {
      if (!queue.fireNext(showTime)) return false;
      while (queue.isDue()) queue.fireNext(showTime);
      await settle();
      return true;
    },
    reset: (now, seed) => {
      guard = unguarded;
      queue.reset(now);
      showTime(now);
      Math.random = createStream(seed);
    },
    end: () => {
      clock.uninstall();
      Object.assign(globalThis, { setTimeout, setInterval, clearTimeout, clearInterval });
      Math.random = random;
    },
  };
}

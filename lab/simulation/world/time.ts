/**
 * Virtual time. The timers and the Date of this process stand still until the simulation moves them on, one
 * timer at a time. After each timer, everything that can go on without further time does so.
 */
import * as FakeTimers from '@sinonjs/fake-timers';
import { createStream, type Dice } from './dice.ts';
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
  /** Does the same with all timers that fall due next, together. */
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

/** How far each clock is from the true time. A name is the name of a function. */
export interface Clocks {
  /** Moves all clocks by a number of milliseconds. */
  readonly set: (byMillis: number) => void;
  /** Moves the clocks of one function's environments. */
  readonly setOf: (name: string, byMillis: number) => void;
  /** How wrong the clocks of a function are, in milliseconds. Without a name: how wrong all clocks are. */
  readonly skewOf: (name: string | undefined) => number;
  /** The additional error of the environment in which an invocation runs. */
  readonly environmentSkew: (name: string, id: string) => number;
  /** The largest difference that two readings of any two clocks may have had because of these errors. */
  readonly largestSkew: () => number;
}

/** Number of environments of each function. Each has a clock of its own. */
const environments = 3;

/** At first only the environments' own errors count, of at most `spreadMillis` in either direction. */
export function createClocks(dice: Dice, spreadMillis: number): Clocks {
  let all = 0;
  const own = new Map<string, number>();
  const extremes = { least: 0, most: 0 };
  const note = (skew: number): void => {
    extremes.least = Math.min(extremes.least, skew);
    extremes.most = Math.max(extremes.most, skew);
  };
  const skewOf = (name: string | undefined): number => all + (own.get(name ?? '') ?? 0);
  return {
    skewOf,
    environmentSkew: (name, id) => {
      if (spreadMillis === 0) return 0;
      const environment = dice.between(`environment of ${id}`, 1, environments);
      return dice.between(`clock of ${name} ${environment}`, -spreadMillis, spreadMillis);
    },
    set: (byMillis) => {
      all += byMillis;
      for (const name of ['', ...own.keys()]) note(skewOf(name));
    },
    setOf: (name, byMillis) => {
      own.set(name, (own.get(name) ?? 0) + byMillis);
      note(skewOf(name));
    },
    largestSkew: () => extremes.most - extremes.least + 2 * spreadMillis,
  };
}

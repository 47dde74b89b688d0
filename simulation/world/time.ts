/**
 * Virtual time: this process's timers and Date stand still until the simulation moves
 * them, one timer at a time, and behind each everything that can go on does.
 */
import * as FakeTimers from '@sinonjs/fake-timers';
import { createStream } from './dice.ts';

/** Puts a timer's callback into other hands. `stop` ends the timer; an interval alone has one. */
export type TimerGuard = (callback: () => void, stop: (() => void) | undefined) => () => void;

export interface VirtualTime {
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** A timer of the world itself, which no guard sees. Returns how to clear it. */
  readonly after: (millis: number, callback: () => void) => () => void;
  /** From now on each timer that is set through the globals is handed to the guard first. */
  readonly guardTimers: (guard: TimerGuard) => void;
  /** Fires the next timer and lets every promise behind it settle; false when there is none. */
  readonly step: () => Promise<boolean>;
  /** Lets every promise settle that can. */
  readonly settle: () => Promise<void>;
  /** Drops all timers and their guard, and stands at another time, with other dice behind Math.random. */
  readonly reset: (now: number, seed: number) => void;
  /** Gives the process its own time back. */
  readonly end: () => void;
}

const unguarded: TimerGuard = (callback) => callback;

/** Takes the process's time and dice over. */
export function takeTime(): VirtualTime {
  const { setImmediate: later } = globalThis;
  const random = Math.random;
  const clock = FakeTimers.install({
    now: 0,
    toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date'],
  });
  let guard = unguarded;
  // The end of the fake timers puts the process's own functions back.
  Object.assign(globalThis, {
    setTimeout: (callback: (...args: unknown[]) => void, millis?: number, ...args: unknown[]) =>
      clock.setTimeout(
        guard(() => {
          callback(...args);
        }, undefined),
        millis ?? 0,
      ),
    setInterval: (callback: (...args: unknown[]) => void, millis?: number, ...args: unknown[]) => {
      const stop = (): void => {
        clock.clearInterval(timer);
      };
      const timer = clock.setInterval(
        guard(() => {
          callback(...args);
        }, stop),
        millis ?? 0,
      );
      return timer;
    },
  });
  const settle = (): Promise<void> =>
    new Promise((resolve) => {
      later(resolve);
    });
  return {
    now: () => clock.now,
    after: (millis, callback) => {
      const timer = clock.setTimeout(callback, millis);
      return () => {
        clock.clearTimeout(timer);
      };
    },
    guardTimers: (next) => {
      guard = next;
    },
    settle,
    step: async () => {
      if (clock.countTimers() === 0) return false;
      clock.next();
      await settle();
      return true;
    },
    reset: (now, seed) => {
      guard = unguarded;
      clock.reset();
      clock.setSystemTime(now);
      Math.random = createStream(seed);
    },
    end: () => {
      clock.uninstall();
      Math.random = random;
    },
  };
}

/**
 * Virtual time: this process's timers and Date stand still until the simulation moves
 * them, one timer at a time, and behind each everything that can go on does.
 */
import * as FakeTimers from '@sinonjs/fake-timers';
import { createStream } from './dice.ts';

export interface VirtualTime {
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** Fires the next timer and lets every promise behind it settle; false when there is none. */
  readonly step: () => Promise<boolean>;
  /** Lets every promise settle that can. */
  readonly settle: () => Promise<void>;
  /** Drops all timers and stands at another time, with other dice behind Math.random. */
  readonly reset: (now: number, seed: number) => void;
  /** Gives the process its own time back. */
  readonly end: () => void;
}

/** Takes the process's time and dice over. */
export function takeTime(): VirtualTime {
  const { setImmediate: later } = globalThis;
  const random = Math.random;
  const clock = FakeTimers.install({ now: 0, toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date'] });
  const settle = (): Promise<void> => new Promise((resolve) => { later(resolve); });
  return {
    now: () => clock.now,
    settle,
    step: async () => {
      if (clock.countTimers() === 0) return false;
      clock.next();
      await settle();
      return true;
    },
    reset: (now, seed) => {
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

/**
 * The pace at which the reconciler starts executions. All starts of the account share one quota of Step
 * Functions. So the reconciler takes only what ordinary traffic leaves, and slows down when a start is not
 * clearly accepted.
 */
import type { Clock } from '../values/runtime.ts';

const firstPace = 10;
/** During an outage one start a second checks whether the outage is over. */
const slowestPace = 1;
/** Concurrent starts fail together. They slow the pace down once. */
const slowDownMillis = 500;
/** Seconds in which the pace, after it was slowed down, rises from zero to the allowed maximum. */
const secondsToTheMost = 20;
/** The most time that unused turns are made up for. A timer can be late by a few milliseconds. */
const madeUpMillis = 20;
/** Interval at which a waiting start checks again, because the pace may have changed. */
const longestSleepMillis = 100;

/** The share of the quota that all starts together may take. */
const usedShare = 0.9;
/** The share that the reconciler keeps under any ordinary traffic. */
const leastShare = 0.1;

export type StartPace = ReturnType<typeof createStartPace>;

/** Starts a second that the reconciler may make, given the number of ordinary starts a second. */
export function paceBeside(ordinaryPerSecond: number, allowedPerSecond: number): number {
  return Math.max(allowedPerSecond * leastShare, allowedPerSecond * usedShare - ordinaryPerSecond);
}

/** The pace doubles each second up to the most. A start without a clear answer halves it, as in TCP. */
export function createStartPace(clock: Clock, mostPerSecond: number, isOver: () => boolean) {
  let perSecond = Math.min(firstPace, mostPerSecond);
  let doublesBelow = mostPerSecond;
  let slowedAt = Number.NEGATIVE_INFINITY;
  let last = Number.NEGATIVE_INFINITY;
  let before: Promise<unknown> = Promise.resolve();

  async function wait(): Promise<boolean> {
    for (;;) {
      if (isOver()) return false;
      const interval = 1000 / perSecond;
      const missing = last + interval - clock.elapsed();
      if (missing <= 0) {
        last = Math.max(last + interval, clock.elapsed() - madeUpMillis);
        return true;
      }
      // A timer counts whole milliseconds. A fraction would not wait at all.
      await clock.sleep(Math.ceil(Math.min(missing, longestSleepMillis)));
    }
  }

  return {
    /** Waits until one more start is allowed. False when the time of the run is up. */
    turn: (): Promise<boolean> => {
      const own = before.then(wait);
      before = own;
      return own;
    },
    heard: (isClear: boolean) => {
      if (isClear) {
        const more = perSecond < doublesBelow ? 1 : mostPerSecond / secondsToTheMost / perSecond;
        perSecond = Math.min(mostPerSecond, perSecond + more);
        return;
      }
      if (clock.elapsed() - slowedAt < slowDownMillis) return;
      slowedAt = clock.elapsed();
      perSecond = Math.max(Math.min(slowestPace, mostPerSecond), perSecond / 2);
      doublesBelow = perSecond;
    },
  };
}

export const atOnce: StartPace = { turn: () => Promise.resolve(true), heard: () => undefined };

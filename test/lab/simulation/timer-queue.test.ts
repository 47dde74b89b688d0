import { describe, expect, it } from 'vitest';
import { createTimerQueue, type TimerQueue } from '../../../lab/simulation/world/timer-queue.ts';

/** Fires `count` timers and returns the times that `onTime` received. */
function fire(queue: TimerQueue, count: number): number[] {
  const times: number[] = [];
  for (let fired = 0; fired < count; fired += 1) queue.fireNext((now) => times.push(now));
  return times;
}

describe('The timers of virtual time', () => {
  it('Timers fire in the order of their times, and timers of the same time in the order in which they were set', () => {
    const queue = createTimerQueue();
    const fired: number[] = [];
    const waits = Array.from({ length: 200 }, (_, index) => (index * 37) % 23);
    for (const [index, wait] of waits.entries()) queue.set(() => fired.push(index), wait);
    const times = fire(queue, waits.length);
    const expected = [...waits.entries()].sort(([one, early], [other, late]) => early - late || one - other);
    expect(fired).toEqual(expected.map(([index]) => index));
    expect(times).toEqual(expected.map(([, wait]) => wait));
  });

  it('A cleared timer does not fire and does not move the time', () => {
    const queue = createTimerQueue();
    queue.set(() => undefined, 5).callback = undefined;
    expect(queue.fireNext(() => undefined)).toBe(false);
    expect(queue.now()).toBe(0);
  });

  it('An interval fires until it is cleared, after the timers that were set earlier for the same time', () => {
    const queue = createTimerQueue();
    const fired: string[] = [];
    const interval = queue.set(() => fired.push('interval'), 10, 'repeats');
    queue.set(() => fired.push('timer'), 20);
    expect(fire(queue, 3)).toEqual([10, 20, 20]);
    expect(fired).toEqual(['interval', 'timer', 'interval']);
    interval.callback = undefined;
    expect(queue.fireNext(() => undefined)).toBe(false);
  });

  it('A timer that a timer sets fires a millisecond later at the earliest', () => {
    const queue = createTimerQueue();
    queue.set(() => queue.set(() => undefined, 0), 0);
    expect(fire(queue, 2)).toEqual([0, 1]);
  });

  it('A wait that is no number counts as none, and a wait beyond Node’s longest as one millisecond', () => {
    const queue = createTimerQueue();
    queue.set(() => undefined, Number.NaN);
    queue.set(() => undefined, -3);
    queue.set(() => undefined, 2_147_483_648);
    expect(fire(queue, 3)).toEqual([0, 0, 1]);
  });

  it('A reset drops the timers and sets the time', () => {
    const queue = createTimerQueue();
    queue.set(() => undefined, 5);
    queue.reset(1_000);
    expect(queue.fireNext(() => undefined)).toBe(false);
    queue.set(() => undefined, 5);
    expect(fire(queue, 1)).toEqual([1_005]);
  });
});

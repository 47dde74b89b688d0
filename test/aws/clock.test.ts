/** The clock of a running service, under timers of the test. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../service/aws/clock.ts';

const start = Date.UTC(2026, 10, 21, 12);
beforeEach(() => {
  vi.useFakeTimers({
    now: start,
    toFake: ['Date', 'performance', 'setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'],
  });
});
afterEach(() => vi.useRealTimers());

describe('The time of the system clock', () => {
  it('The clock has the time of day in milliseconds, and a second time that only grows', () => {
    const begun = systemClock.elapsed();
    vi.advanceTimersByTime(1_500);
    expect([systemClock.now(), systemClock.elapsed() - begun]).toEqual([start + 1_500, 1_500]);
  });
});

describe('A sleep of the system clock', () => {
  it('A sleep ends after its time, and throws when its signal aborts', async () => {
    vi.useRealTimers();
    const begun = performance.now();
    await systemClock.sleep(20);
    expect(performance.now() - begun).toBeGreaterThan(15);
    await expect(systemClock.sleep(60_000, AbortSignal.abort())).rejects.toMatchObject({
      name: 'AbortError',
    });
  });
});

describe('A deadline of the system clock', () => {
  it('A deadline aborts exactly at its time', () => {
    const { signal } = systemClock.deadline(start + 600);
    vi.advanceTimersByTime(599);
    expect(signal.aborted).toBe(false);
    vi.advanceTimersByTime(1);
    expect(signal.aborted).toBe(true);
  });

  it('A deadline notices within a quarter of a second that the clock was moved forward', () => {
    const { signal } = systemClock.deadline(start + 3_600_000);
    vi.setSystemTime(start + 3_600_000);
    vi.advanceTimersByTime(249);
    expect(signal.aborted).toBe(false);
    vi.advanceTimersByTime(1);
    expect(signal.aborted).toBe(true);
  });

  it.each([0, -1])('A deadline that lies %i ms from now has passed at once', (from) => {
    expect(systemClock.deadline(start + from).signal.aborted).toBe(true);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('A deadline that is released leaves no timer and never aborts', () => {
    const deadline = systemClock.deadline(start + 600);
    vi.advanceTimersByTime(300);
    deadline.release();
    expect(vi.getTimerCount()).toBe(0);
    vi.advanceTimersByTime(10_000);
    expect(deadline.signal.aborted).toBe(false);
  });
});

describe('A time limit of the system clock', () => {
  it('A time limit aborts after its milliseconds', () => {
    const { signal } = systemClock.timeout(600);
    vi.advanceTimersByTime(599);
    expect(signal.aborted).toBe(false);
    vi.advanceTimersByTime(1);
    expect(signal.aborted).toBe(true);
  });

  it('A time limit that is released leaves no timer and never aborts', () => {
    const limit = systemClock.timeout(600);
    limit.release();
    expect(vi.getTimerCount()).toBe(0);
    vi.advanceTimersByTime(10_000);
    expect(limit.signal.aborted).toBe(false);
  });
});

describe('A repeated task of the system clock', () => {
  it('A repeated task runs once in each interval until it is stopped', () => {
    const task = vi.fn();
    const stop = systemClock.every(100, task);
    vi.advanceTimersByTime(299);
    expect(task).toHaveBeenCalledTimes(2);
    vi.advanceTimersByTime(1);
    expect(task).toHaveBeenCalledTimes(3);
    stop();
    vi.advanceTimersByTime(1_000);
    expect(task).toHaveBeenCalledTimes(3);
    expect(vi.getTimerCount()).toBe(0);
  });
});

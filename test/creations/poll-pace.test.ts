import { describe, expect, it } from 'vitest';
import { type CreationRecord, nextPollSeconds, type RouteAttempt } from '../../service/creations/creation.ts';
import { aCreation, now } from '../fixtures/records.ts';

const begun = (usualMillis?: number): RouteAttempt => ({
  provider: 'fal',
  providerModel: 'flux',
  startedAt: new Date(now).toISOString(),
  resultKey: 'results/a.png',
  ...(usualMillis !== undefined && { usualMillis }),
});

const paceAfter = (seconds: number, change: Partial<CreationRecord> = {}): number =>
  nextPollSeconds(aCreation(change), now + seconds * 1000);

/** When a client polls that obeys the service: first after the Retry-After of the 202, then at each pace. */
function pollsAt(change: Partial<CreationRecord>, imageAfterSeconds: number): number[] {
  const at = [2];
  for (let last = 2; last < imageAfterSeconds;) {
    last += paceAfter(last, change);
    at.push(last);
  }
  return at;
}

describe('the pace of polls', () => {
  it.each([
    ['at once', 0, 2],
    ['after 12 s', 12, 2],
    ['after 18 s', 18, 3],
    ['after 30 s', 30, 5],
    ['after 200 s', 200, 5],
  ])('A creation that nobody has begun is looked at %s again in %i s -> %i s', (_when, age, seconds) => {
    expect(paceAfter(age)).toBe(seconds);
  });

  it.each([
    ['at the beginning', 0, 10],
    ['after 40 s', 40, 10],
    ['after 50 s', 50, 5],
    ['after 57 s', 57, 2],
    ['at the usual time', 60, 2],
    ['6 s after the usual time', 66, 2],
    ['12 s after the usual time', 72, 4],
    ['a minute after the usual time', 120, 5],
  ])('A rendering of usually 60 s has %s (%i s) the pace %i s', (_when, age, seconds) => {
    expect(paceAfter(age, { attempts: [begun(60_000)] })).toBe(seconds);
  });

  it('A rendering of usually 3 s is polled every second around its time', () => {
    const attempts = [begun(3_000)];
    expect([2, 3, 5].map((age) => paceAfter(age, { attempts }))).toEqual([1, 1, 1]);
  });

  it('A rendering of usually 15 s is polled less often than at a fixed pace of 2 s, and is seen as early', () => {
    expect(pollsAt({ attempts: [begun(15_000)] }, 15)).toEqual([2, 8, 11, 13, 15]);
  });

  it('A rendering of usually 60 s is polled a third as often as at a fixed pace of 2 s', () => {
    expect(pollsAt({ attempts: [begun(60_000)] }, 60)).toEqual([2, 12, 22, 32, 42, 51, 55, 57, 59, 61]);
  });

  it('The time of an attempt that is over does not count: the age of the creation decides', () => {
    const over: RouteAttempt = { ...begun(60_000), outcome: 'unavailable' };
    expect(paceAfter(18, { attempts: [over] })).toBe(3);
  });

  it('The time counts from the begin of the running attempt, not of the one before', () => {
    const over: RouteAttempt = { ...begun(60_000), outcome: 'unavailable' };
    const second = { ...begun(20_000), startedAt: new Date(now + 30_000).toISOString() };
    expect(paceAfter(38, { attempts: [over, second] })).toBe(6);
  });

  it('No client waits far beyond the deadline', () => {
    const attempts = [begun(60_000)];
    expect(paceAfter(26, { attempts, deadlineAt: now + 30_000 })).toBe(4);
    expect(paceAfter(32, { attempts, deadlineAt: now + 30_000 })).toBe(2);
  });
});

/** Vendors that say when they may be asked again. */
import { describe, expect, it } from 'vitest';
import type { RouteAttempt } from '../../service/creations/creation.ts';
import { fakeProvider, rejection } from '../api/fakes.ts';
import { now } from '../fixtures/records.ts';
import { healthOf } from './fake-health.ts';
import { begun, refused, rendered, walk } from './walk-fixture.ts';
import { down, first, resting, throttled, walkBy } from './walk-health-fixture.ts';

describe('a vendor that wants to be left alone', () => {
  it('A route that rests comes behind the others', async () => {
    const walked = walkBy(healthOf({ [first]: resting(20_000) }), [[], [rendered]]);
    expect((await walked.result).attempts).toMatchObject([{ provider: 'second' }]);
    expect(walked.clock.sleeps).toEqual([]);
  });

  it('The walk waits for a route that rests when no other is left', async () => {
    const walked = walkBy(healthOf({ [first]: resting(20_000) }), [[rendered], [down]]);
    expect((await walked.result).attempts).toMatchObject([{ outcome: 'unavailable' }, { provider: 'first' }]);
    expect(walked.clock.sleeps).toEqual([20_000]);
  });

  it('A route that rests for too long is asked all the same before the creation fails', async () => {
    const walked = walkBy(healthOf({ [first]: resting(58_000) }), [[down], [down]], {
      deadlineAt: now + 60_000,
    });
    expect(await rejection(walked.result)).toMatchObject({ name: 'ServiceUnavailable' });
    expect(walked.asked).toEqual(['second', 'first']);
    expect(walked.clock.sleeps).toEqual([]);
  });

  it('The vendor is asked again at its time, and the refusal is saved before the wait', async () => {
    const health = healthOf({});
    const walked = walkBy(health, [[throttled(7_000), rendered], [down]]);
    expect((await walked.result).attempts).toMatchObject([
      { provider: 'first', outcome: 'unavailable', againAt: now + 7_000 },
      { provider: 'second', outcome: 'unavailable' },
      { provider: 'first', outcome: 'rendered' },
    ]);
    expect(walked.asked).toEqual(['first', 'second', 'first']);
    expect(walked.clock.sleeps).toEqual([7_000]);
    // The second save is the begin of the second route, the third comes before the wait.
    expect(walked.saved[2]).toMatchObject([{ outcome: 'unavailable' }, { outcome: 'unavailable' }]);
    expect(walked.saved[3]).toHaveLength(3);
    expect(walked.saved[3]?.[2]).not.toHaveProperty('outcome');
    expect(health.notes[0]).toEqual([first, { sign: 'failure', weight: 1, restUntil: now + 7_000 }]);
  });

  it('No attempt is saved once more when nobody waits', async () => {
    const walked = walkBy(healthOf({}), [[throttled(7_000)], [rendered]]);
    await walked.result;
    expect(walked.saved).toHaveLength(2);
  });

  it('After a crash during the wait, the walk waits for the rest of the time and asks again', async () => {
    const before: RouteAttempt = { ...begun, outcome: 'unavailable', againAt: now + 3_000 };
    const other: RouteAttempt = { ...begun, provider: 'second', providerModel: 'b', outcome: 'unavailable' };
    const walked = walkBy(healthOf({}), [[rendered], []], { attempts: [before, other] });
    expect((await walked.result).attempts.map(({ outcome }) => outcome)).toEqual([
      'unavailable',
      'unavailable',
      'rendered',
    ]);
    expect(walked.clock.sleeps).toEqual([3_000]);
  });

  it('After a crash during the second call, the vendor is not asked a third time', async () => {
    const before: RouteAttempt = { ...begun, outcome: 'unavailable', againAt: now - 3_000 };
    const other: RouteAttempt = { ...begun, provider: 'second', providerModel: 'b', outcome: 'unavailable' };
    const walked = walkBy(healthOf({}), [[], []], { attempts: [before, other, begun] });
    expect(await rejection(walked.result)).toMatchObject({ name: 'InternalFailure' });
    expect(walked.asked).toEqual([]);
  });

  it('A vendor that is paused during the wait is not asked again', async () => {
    const health = healthOf({});
    const paused: string[] = [];
    const pausing = { ...health, paused: async () => Promise.resolve(paused) };
    const pauses = (): typeof down => {
      paused.push('first');
      return down;
    };
    const walked = walk(
      {},
      {
        providers: [fakeProvider('first', () => throttled(7_000)), fakeProvider('second', pauses)],
        health: pausing,
      },
    );
    expect(await rejection(walked.result)).toMatchObject({ name: 'ServiceUnavailable' });
  });

  it('A vendor is asked five times at most', async () => {
    const always = Array.from({ length: 5 }, () => throttled(10_000));
    const walked = walkBy(healthOf({}), [always, [down]]);
    expect(await rejection(walked.result)).toMatchObject({ name: 'ServiceUnavailable' });
    expect(walked.asked.filter((name) => name === 'first')).toHaveLength(5);
  });

  it('A wait is at least a second and at most two minutes', async () => {
    const walked = walkBy(healthOf({}), [[throttled(0), throttled(9_000_000), rendered], [down]]);
    await walked.result;
    expect(walked.clock.sleeps).toEqual([1_000, 120_000]);
  });

  it('The walk does not wait beyond the deadline', async () => {
    const walked = walkBy(healthOf({}), [[throttled(56_000)], [down]], { deadlineAt: now + 60_000 });
    expect(await rejection(walked.result)).toMatchObject({ name: 'ServiceUnavailable' });
    expect(walked.clock.sleeps).toEqual([]);
  });

  it('Of two vendors that throttle, the one whose time comes first is asked first', async () => {
    const walked = walkBy(healthOf({}), [[throttled(30_000)], [throttled(4_000), rendered]]);
    await walked.result;
    expect(walked.asked).toEqual(['first', 'second', 'second']);
    expect(walked.clock.sleeps).toEqual([4_000]);
  });

  it('A vendor whose other call has an unknown outcome is not asked again', async () => {
    const routes = [
      { provider: 'first', providerModel: 'a' },
      { provider: 'first', providerModel: 'b' },
    ];
    const provider = fakeProvider('first', throttled(5_000), refused('unknown_outcome'));
    const { result } = walk({ routes }, { providers: [provider], health: healthOf({}) });
    expect(await rejection(result)).toMatchObject({ name: 'InternalFailure' });
    expect(provider.calls).toHaveLength(2);
  });
});

import { describe, expect, it } from 'vitest';
import { createSlots } from '../../service/reconcile/drain.ts';
import { createStartPace, paceBeside } from '../../service/reconcile/start-pace.ts';
import { fakeClock, type FakeClock } from '../api/fakes.ts';

/** How many turns come within the next milliseconds, when each is answered the same. */
async function turnsWithin(
  millis: number,
  clock: FakeClock,
  pace: ReturnType<typeof createStartPace>,
  isClear: boolean,
): Promise<number> {
  const end = clock.elapsed() + millis;
  for (let turns = 0; ; turns += 1) {
    await pace.turn();
    if (clock.elapsed() >= end) return turns;
    pace.heard(isClear);
  }
}

describe('the pace of starts', () => {
  it('The pace begins with ten a second and doubles each second, up to the most', async () => {
    const clock = fakeClock();
    const pace = createStartPace(clock, 100, () => false);
    const first = await turnsWithin(1_000, clock, pace, true);
    expect(first).toBeGreaterThanOrEqual(10);
    expect(first).toBeLessThanOrEqual(20);
    await turnsWithin(5_000, clock, pace, true);
    const most = await turnsWithin(1_000, clock, pace, true);
    expect(most).toBeGreaterThanOrEqual(98);
    expect(most).toBeLessThanOrEqual(103);
  });

  it('Starts without a clear answer slow the pace to one a second, and not further', async () => {
    const clock = fakeClock();
    const pace = createStartPace(clock, 100, () => false);
    await turnsWithin(8_000, clock, pace, true);
    expect(await turnsWithin(10_000, clock, pace, false)).toBeLessThan(180);
    const slowest = await turnsWithin(10_000, clock, pace, false);
    expect([9, 10]).toContain(slowest);
  });

  it('The pace is back at the most some twenty seconds after the last unclear start', async () => {
    const clock = fakeClock();
    const pace = createStartPace(clock, 100, () => false);
    await turnsWithin(20_000, clock, pace, false);
    await turnsWithin(10_000, clock, pace, true);
    const halfWay = await turnsWithin(1_000, clock, pace, true);
    expect(halfWay).toBeGreaterThan(30);
    expect(halfWay).toBeLessThan(80);
    await turnsWithin(12_000, clock, pace, true);
    expect(await turnsWithin(1_000, clock, pace, true)).toBeGreaterThanOrEqual(98);
  });

  it('Starts that fail together slow the pace down once', async () => {
    const clock = fakeClock();
    const pace = createStartPace(clock, 10, () => false);
    for (let failed = 0; failed < 20; failed += 1) pace.heard(false);
    await pace.turn();
    // The second turn makes up for unused milliseconds.
    await pace.turn();
    const begun = clock.elapsed();
    await pace.turn();
    expect(clock.elapsed() - begun).toBe(200);
  });

  it('No turn comes after the time is up', async () => {
    let isOver = false;
    const pace = createStartPace(fakeClock(), 10, () => isOver);
    expect(await pace.turn()).toBe(true);
    isOver = true;
    expect(await pace.turn()).toBe(false);
  });

  it.each([
    [0, 300, 270],
    [100, 300, 170],
    [100, 150, 35],
    [1_000, 150, 15],
  ])('Beside %i ordinary starts a second and with a quota of %i, the most is %i', (ordinary, quota, most) => {
    expect(paceBeside(ordinary, quota)).toBe(most);
  });
});

describe('slots', () => {
  it('Tasks wait for a slot in their order, and a task that fails frees its slot', async () => {
    const slots = createSlots(2);
    const begun: number[] = [];
    const ends = [0, 1, 2, 3].map(() => Promise.withResolvers<undefined>());
    const tasks = ends.map(({ promise }, index) =>
      slots(async () => {
        begun.push(index);
        await promise;
      }).catch(() => 'failed'),
    );
    await new Promise(setImmediate);
    expect(begun).toEqual([0, 1]);
    ends[1]?.reject(new Error('broken'));
    expect(await tasks[1]).toBe('failed');
    await new Promise(setImmediate);
    expect(begun).toEqual([0, 1, 2]);
    for (const end of ends) end.resolve(undefined);
    await Promise.all(tasks);
    expect(begun).toEqual([0, 1, 2, 3]);
  });
});

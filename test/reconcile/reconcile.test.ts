import { describe, expect, it } from 'vitest';
import { aCompletedCreation, aCreation, now } from '../fixtures/records.ts';
import { without } from '../fixtures/values.ts';
import { deadline, minute, run, steps } from './reconcile-fixture.ts';
import { createSlots } from '../../service/reconcile/drain.ts';
import { createStartPace, paceBeside } from '../../service/reconcile/start-pace.ts';
import { fakeClock } from '../api/fakes.ts';

describe('a creation that is due', () => {
  it('A creation that was charged but never started is started under its own name', async () => {
    const { steps: done, report } = await run({ creations: [aCreation()], execution: 'absent' });
    expect(done).toEqual(['ensure 1', 'note 1, next look at 180 s']);
    expect(report).toEqual({ looked: 1, started: 1, refunded: 0, open: 7 });
  });

  it('A creation whose execution died gets the next execution', async () => {
    expect(
      await steps({ creations: [aCreation({ executions: 2, recoveries: 1, status: 'processing' })] }),
    ).toEqual(['ask for 2', 'note 3, next look at 240 s', 'start 3']);
  });

  it('A creation that still runs is checked a minute later, but not later than its deadline', async () => {
    expect(await steps({ creations: [aCreation()], execution: 'running' })).toEqual([
      'ensure 1',
      'postpone to 180 s',
    ]);
    expect(await steps({ creations: [aCreation()], execution: 'running', at: deadline })).toEqual([
      'ensure 1',
      'postpone to 310 s',
    ]);
    const status = 'processing';
    expect(await steps({ creations: [aCreation({ status })], execution: 'running' })).toEqual([
      'ask for 1',
      'postpone to 180 s',
    ]);
  });

  it('A creation that an older release started and that still runs is not started a second time', async () => {
    const setting = { creations: [aCreation()], execution: 'running', isOfOlderRelease: true } as const;
    expect(await steps(setting)).toEqual(['ensure 1', 'ask for 1', 'postpone to 180 s']);
  });

  it('A creation that was taken up and whose execution never existed is started under its own name', async () => {
    const creation = aCreation({ status: 'processing' });
    expect(await steps({ creations: [creation], execution: 'absent' })).toEqual([
      'ask for 1',
      'note 1, next look at 180 s',
      'start 1',
    ]);
  });

  it('A creation with a lease is left alone until the lease is over', async () => {
    const lease = { holder: 'request-1', until: now + 2 * minute + 1 };
    expect(await steps({ creations: [aCreation({ lease })] })).toEqual(['postpone to 180.001 s']);
    expect(
      await steps({ creations: [aCreation({ lease: { ...lease, until: now + 2 * minute } })] }),
    ).toContain('start 2');
  });

  it('Nobody asks about an execution that waits for a callback, until its heartbeat is overdue by 15 seconds', async () => {
    const waiting = (millis: number) =>
      aCreation({
        status: 'processing',
        machine: 'callback',
        lease: { holder: 'request-1', until: now + millis },
      });
    expect(await steps({ creations: [waiting(45_001)], execution: 'running' })).toEqual([
      'postpone to 180.001 s',
    ]);
    expect(await steps({ creations: [waiting(45_000)], execution: 'running' })).toEqual([
      'ask for 1',
      'postpone to 180 s',
    ]);
  });

  it('A creation that another reconciler has taken is left to that reconciler', async () => {
    const { steps: done, report } = await run({ creations: [aCreation()], isNoted: false });
    expect(done).not.toContain('start 2');
    expect(report).toMatchObject({ looked: 1, started: 0 });
  });

  it.each([
    [0, 180, false],
    [1, 240, false],
    [2, 310, true],
    [9, 310, true],
  ])(
    'A creation after %d recoveries is checked again at %d s, and an alarm is raised: %j',
    async (recoveries, next, isAlarming) => {
      const creation = aCreation({ recoveries, status: 'processing' });
      const { steps: done, log } = await run({ creations: [creation] });
      expect(done).toContain(`note 2, next look at ${next} s`);
      expect(log.lines).toEqual([
        isAlarming ? 'alarm creation_recovered_again' : 'info creation_recovered',
        'info reconciled',
      ]);
    },
  );

  it('A creation that is no longer due when it is read again is left alone', async () => {
    expect(await steps({ creations: [aCreation({ dueAt: now + 3 * minute })] })).toEqual([]);
    expect(await steps({ creations: [without(aCreation(), 'dueAt')] })).toEqual([]);
    expect(await steps({ creations: [undefined] })).toEqual([]);
  });

  it('A creation whose start is unclear stays due, and nothing is written', async () => {
    const { steps: done, report, log } = await run({ creations: [aCreation()], start: 'unclear' });
    expect(done).toEqual(['ensure 1']);
    expect(report.started).toBe(0);
    expect(log.lines).toEqual(['info start_unclear', 'info reconciled']);
  });

  it('A further start that is unclear counts as started, because the next check finds out', async () => {
    const creation = aCreation({ status: 'processing' });
    const { report, log } = await run({ creations: [creation], start: 'unclear' });
    expect(report.started).toBe(1);
    expect(log.lines).toEqual(['info creation_recovered', 'info start_unclear', 'info reconciled']);
  });
});

describe('a creation past its deadline', () => {
  it('The creation has ten seconds more, because its execution may be refunding it', async () => {
    expect(await steps({ creations: [aCreation()], at: deadline + 9_999 })).not.toContain(
      'refund GenerationTimedOut',
    );
  });

  it('The creation is refunded as GenerationTimedOut, whatever its execution does', async () => {
    const { steps: done, log } = await run({
      creations: [aCreation()],
      at: deadline + 10_000,
      execution: 'running',
    });
    expect(done).toEqual(['refund GenerationTimedOut']);
    expect(log.lines).toContain('alarm creation_past_deadline');
  });

  it('An alarm is raised when the table is too busy to refund, because money is held', async () => {
    const { log, report } = await run({ creations: [aCreation()], at: deadline + 10_000, refund: 'busy' });
    expect(log.lines).toEqual(['alarm refund_not_made', 'alarm creation_past_deadline', 'info reconciled']);
    expect(report.refunded).toBe(0);
  });

  it('The webhook of the creation is sent by an execution of its own', async () => {
    const webhook = { url: 'https://hooks.test', status: 'pending', attempts: 0, nextAt: now } as const;
    const failed = aCompletedCreation({
      status: 'failed',
      failure: 'GenerationTimedOut',
      webhook,
      dueAt: deadline + 2 * minute,
    });
    expect(await steps({ creations: [aCreation({ webhook }), failed], at: deadline + 10_000 })).toEqual([
      'refund GenerationTimedOut',
      'note 2, next look at 370 s',
      'start 2',
    ]);
  });
});

describe('a creation whose webhook is due', () => {
  const webhook = { url: 'https://hooks.test', status: 'pending', attempts: 2, nextAt: now } as const;

  it('The next execution takes up the webhook', async () => {
    expect(await steps({ creations: [aCompletedCreation({ webhook, dueAt: now })] })).toEqual([
      'note 2, next look at 180 s',
      'start 2',
    ]);
  });

  it('A webhook whose execution cannot be started is no reason for a refund, because the image exists', async () => {
    const { steps: done } = await run({
      creations: [aCompletedCreation({ webhook, dueAt: now })],
      start: 'refused',
    });
    expect(done).toEqual(['note 2, next look at 180 s', 'start 2']);
  });

  it('A creation whose webhook is settled leaves the index of open work', async () => {
    expect(
      await steps({
        creations: [aCompletedCreation({ webhook: { ...webhook, status: 'delivered' }, dueAt: now })],
      }),
    ).toEqual(['settle']);
    expect(await steps({ creations: [aCompletedCreation({ dueAt: now })] })).toEqual(['settle']);
  });
});

/** How many turns come within the next milliseconds of one pace, when each is answered the same. */
function paced(most: number): (millis: number, isClear: boolean) => Promise<number> {
  const clock = fakeClock();
  const pace = createStartPace(clock, most, () => false);
  return async (millis, isClear) => {
    const end = clock.elapsed() + millis;
    for (let turns = 0; ; turns += 1) {
      await pace.turn();
      if (clock.elapsed() >= end) return turns;
      pace.heard(isClear);
    }
  };
}

describe('the pace of starts', () => {
  it('The pace begins with ten a second and doubles each second, up to the most', async () => {
    const turnsIn = paced(100);
    const first = await turnsIn(1_000, true);
    expect(first).toBeGreaterThanOrEqual(10);
    expect(first).toBeLessThanOrEqual(20);
    await turnsIn(5_000, true);
    const most = await turnsIn(1_000, true);
    expect(most).toBeGreaterThanOrEqual(98);
    expect(most).toBeLessThanOrEqual(103);
  });

  it('Starts without a clear answer slow the pace to one a second, and not further', async () => {
    const turnsIn = paced(100);
    await turnsIn(8_000, true);
    expect(await turnsIn(10_000, false)).toBeLessThan(180);
    const slowest = await turnsIn(10_000, false);
    expect([9, 10]).toContain(slowest);
  });

  it('The pace is back at the most some twenty seconds after the last unclear start', async () => {
    const turnsIn = paced(100);
    await turnsIn(20_000, false);
    await turnsIn(10_000, true);
    const halfWay = await turnsIn(1_000, true);
    expect(halfWay).toBeGreaterThan(30);
    expect(halfWay).toBeLessThan(80);
    await turnsIn(12_000, true);
    expect(await turnsIn(1_000, true)).toBeGreaterThanOrEqual(98);
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

import { describe, expect, it } from 'vitest';
import type { CreationRecord } from '../../core/creation.ts';
import type { CreationId } from '../../core/ids.ts';
import type { ChargeStore } from '../../core/ports/charges.ts';
import type { CreationStore } from '../../core/ports/creations.ts';
import type { Executions, OpenWorkStore, StartOutcome } from '../../core/ports/executions.ts';
import { reconcile, type ReconcileEvent } from '../../functions/schedule/reconcile.ts';
import type { ReconcileServices } from '../../functions/services/reconcile.ts';
import { aCompletedCreation, aCreation, creationId, now } from '../fixtures/records.ts';
import { fakeClock, fakeLog, stub, type FakeLog } from './fakes.ts';

const minute = 60_000;
const deadline = now + 5 * minute;

interface Setting {
  /** As it is read, one after the other; the last one stays. */
  readonly creations: readonly (CreationRecord | undefined)[];
  readonly at?: number;
  readonly execution?: 'running' | 'ended' | 'absent';
  readonly start?: StartOutcome;
  readonly isNoted?: boolean;
  readonly refund?: 'refunded' | 'already_terminal' | 'busy';
  readonly event?: ReconcileEvent;
}

interface Ran {
  readonly steps: string[];
  readonly report: Awaited<ReturnType<typeof reconcile>>;
  readonly log: FakeLog;
}

const later = (millis: number): string => `${(millis - now) / 1000} s`;

async function run(setting: Setting): Promise<Ran> {
  const {
    at = now + 2 * minute,
    execution = 'ended',
    start = 'started',
    isNoted = true,
    refund = 'refunded',
  } = setting;
  const steps: string[] = [];
  const log = fakeLog();
  const left = [...setting.creations];
  const services = stub<ReconcileServices>({
    clock: fakeClock(at),
    log,
    creations: stub<CreationStore>({
      read: async () => Promise.resolve(left.length > 1 ? left.shift() : left[0]),
    }),
    charges: stub<ChargeStore>({
      refund: async (_creation, { failure, announce }) => {
        steps.push(`refund ${failure}${announce ? '' : ' unannounced'}`);
        return Promise.resolve(refund);
      },
    }),
    openWork: stub<OpenWorkStore>({
      overdue: async () => Promise.resolve([creationId]),
      recordOpenCount: async () => Promise.resolve(7),
      postpone: async (_creation, due) => {
        steps.push(due === undefined ? 'settle' : `postpone to ${later(due)}`);
        return Promise.resolve(true);
      },
      noteStart: async (_creation, due, number) => {
        steps.push(`note ${number}, next look at ${later(due)}`);
        return Promise.resolve(isNoted);
      },
    }),
    executions: stub<Executions>({
      state: async (_id, number) => {
        steps.push(`ask for ${number}`);
        return Promise.resolve(execution);
      },
      start: async (_id, number) => {
        steps.push(`start ${number}`);
        return Promise.resolve(start);
      },
    }),
  });
  return { report: await reconcile(setting.event ?? {}, services), steps, log };
}

const steps = async (setting: Setting): Promise<string[]> => (await run(setting)).steps;

describe('a creation that is due', () => {
  it('and was charged but never started is started under its own name', async () => {
    const { steps: done, report } = await run({ creations: [aCreation()], execution: 'absent' });
    expect(done).toEqual(['ask for 1', 'note 1, next look at 180 s', 'start 1']);
    expect(report).toEqual({ looked: 1, started: 1, refunded: 0, open: 7 });
  });

  it('and whose execution died gets the next one', async () => {
    expect(
      await steps({ creations: [aCreation({ executions: 2, recoveries: 1, status: 'processing' })] }),
    ).toEqual(['ask for 2', 'note 3, next look at 240 s', 'start 3']);
  });

  it('and still runs is looked at a minute later, its deadline at the latest', async () => {
    expect(await steps({ creations: [aCreation()], execution: 'running' })).toEqual([
      'ask for 1',
      'postpone to 180 s',
    ]);
    expect(await steps({ creations: [aCreation()], execution: 'running', at: deadline })).toEqual([
      'ask for 1',
      'postpone to 310 s',
    ]);
  });

  it('and is being rendered is left alone until its lease is over', async () => {
    const lease = { holder: 'request-1', until: now + 2 * minute + 1 };
    expect(await steps({ creations: [aCreation({ lease })] })).toEqual(['postpone to 180.001 s']);
    expect(
      await steps({ creations: [aCreation({ lease: { ...lease, until: now + 2 * minute } })] }),
    ).toContain('start 2');
  });

  it('and another reconciler took up is left to that one', async () => {
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
    'after %d recoveries is looked at again at %d s; with an alarm: %j',
    async (recoveries, next, isAlarming) => {
      const { steps: done, log } = await run({ creations: [aCreation({ recoveries })] });
      expect(done).toContain(`note 2, next look at ${next} s`);
      expect(log.lines).toEqual([
        isAlarming ? 'alarm creation_recovered_again' : 'info creation_recovered',
        'info reconciled',
      ]);
    },
  );

  it('is not due any more when it is read again: nothing happens', async () => {
    expect(await steps({ creations: [aCreation({ dueAt: now + 3 * minute })] })).toEqual([]);
    expect(
      await steps({ creations: [{ ...aCreation(), dueAt: undefined } as unknown as CreationRecord] }),
    ).toEqual([]);
    expect(await steps({ creations: [undefined] })).toEqual([]);
  });

  it('that cannot be started at all is refunded as unavailable, with an alarm', async () => {
    const { steps: done, log, report } = await run({ creations: [aCreation()], start: 'refused' });
    expect(done.at(-1)).toBe('refund ServiceUnavailable');
    expect(log.lines).toContain('alarm start_refused');
    expect(report.refunded).toBe(1);
  });

  it('whose start was unclear counts as started: the next look finds out', async () => {
    expect((await run({ creations: [aCreation()], start: 'unclear' })).report.started).toBe(1);
  });
});

describe('a creation past its deadline', () => {
  it('has ten seconds more, for an execution that is just refunding', async () => {
    expect(await steps({ creations: [aCreation()], at: deadline + 9_999 })).not.toContain(
      'refund GenerationTimedOut',
    );
  });

  it('is refunded as timed out, whatever its execution does', async () => {
    const { steps: done, log } = await run({
      creations: [aCreation()],
      at: deadline + 10_000,
      execution: 'running',
    });
    expect(done).toEqual(['refund GenerationTimedOut']);
    expect(log.lines).toContain('alarm creation_past_deadline');
  });

  it('that cannot be refunded for a busy table raises an alarm: money is held', async () => {
    const { log, report } = await run({ creations: [aCreation()], at: deadline + 10_000, refund: 'busy' });
    expect(log.lines).toEqual(['alarm refund_not_made', 'alarm creation_past_deadline', 'info reconciled']);
    expect(report.refunded).toBe(0);
  });

  it('has its webhook sent by an execution of its own', async () => {
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

describe('a webhook that is due', () => {
  const webhook = { url: 'https://hooks.test', status: 'pending', attempts: 2, nextAt: now } as const;

  it('is taken up by the next execution', async () => {
    expect(await steps({ creations: [aCompletedCreation({ webhook, dueAt: now })] })).toEqual([
      'note 2, next look at 180 s',
      'start 2',
    ]);
  });

  it('is not refunded when no execution can be started: the image is there', async () => {
    const { steps: done } = await run({
      creations: [aCompletedCreation({ webhook, dueAt: now })],
      start: 'refused',
    });
    expect(done).toEqual(['note 2, next look at 180 s', 'start 2']);
  });

  it('is settled: the creation leaves the index of open work', async () => {
    expect(
      await steps({
        creations: [aCompletedCreation({ webhook: { ...webhook, status: 'delivered' }, dueAt: now })],
      }),
    ).toEqual(['settle']);
    expect(await steps({ creations: [aCompletedCreation({ dueAt: now })] })).toEqual(['settle']);
  });
});

describe('the event of an execution that died', () => {
  const event = { detail: { status: 'FAILED', input: JSON.stringify({ creation_id: creationId }) } };

  it('has its creation recovered at once, before it is due', async () => {
    const { steps: done, report } = await run({
      creations: [aCreation({ dueAt: now + 60 * minute })],
      event,
    });
    expect(done).toEqual(['ask for 1', 'note 2, next look at 180 s', 'start 2']);
    expect(report).toEqual({ looked: 1, started: 1, refunded: 0 });
  });

  it('counts as no run of the schedule', async () => {
    expect((await run({ creations: [aCreation()], event })).log.lines).toEqual(['info creation_recovered']);
  });

  it('is left to the schedule from the third time on', async () => {
    expect(await steps({ creations: [aCreation({ recoveries: 1 })], event })).toContain('start 2');
    expect(await steps({ creations: [aCreation({ recoveries: 2 })], event })).toEqual([]);
  });

  it('means nothing for a creation that needs nothing any more', async () => {
    expect(
      await steps({
        creations: [{ ...aCompletedCreation(), dueAt: undefined } as unknown as CreationRecord],
        event,
      }),
    ).toEqual([]);
  });
});

describe('the event of an execution that names no creation', () => {
  const named = JSON.stringify({ creation_id: creationId });
  const inputs = [
    null,
    undefined,
    '',
    'no JSON',
    'null',
    '1',
    '"text"',
    '[]',
    `[${named}]`,
    '{}',
    '{"creation_id":null}',
    '{"creation_id":7}',
    '{"creation_id":"nothing"}',
    JSON.stringify({ creation_id: [creationId] }),
  ];

  it.each(inputs)('changes nothing, fails nothing and leaves a line in the log: input %j', async (input) => {
    const event = { detail: { status: 'FAILED', ...(input !== undefined && { input }) } };
    const { steps: done, report, log } = await run({ creations: [aCreation()], event });
    expect(done).toEqual([]);
    expect(report).toEqual({ looked: 0, started: 0, refunded: 0 });
    expect(log.lines).toEqual(['info reconcile_event_ignored']);
  });

  it('and has no status either changes nothing when its input is null', async () => {
    expect(await steps({ creations: [aCreation()], event: { detail: { input: null } } })).toEqual([]);
  });
});

describe('the schedule', () => {
  it('sends an event with an empty detail, and everything that is due is looked at', async () => {
    const { report } = await run({ creations: [aCreation()], execution: 'absent', event: { detail: {} } });
    expect(report).toEqual({ looked: 1, started: 1, refunded: 0, open: 7 });
  });

  it('looks at all that is overdue, though one of it breaks', async () => {
    const ids = Array.from(
      { length: 25 },
      (_, index) => creationId.replace(/.{2}$/, String(index).padStart(2, '0')) as CreationId,
    );
    const log = fakeLog();
    const seen: CreationId[] = [];
    const report = await reconcile(
      {},
      stub<ReconcileServices>({
        clock: fakeClock(now + 2 * minute),
        log,
        creations: stub<CreationStore>({
          read: async (id) => {
            seen.push(id);
            if (id === ids[3]) throw new TypeError('secret of the table');
            return Promise.resolve(aCreation({ id }));
          },
        }),
        openWork: stub<OpenWorkStore>({
          overdue: async () => Promise.resolve(ids),
          recordOpenCount: async () => Promise.resolve(25),
          postpone: async () => Promise.resolve(true),
        }),
        executions: stub<Executions>({ state: async () => Promise.resolve('running') }),
      }),
    );
    expect(seen).toEqual(ids);
    expect(report).toEqual({ looked: 25, started: 0, refunded: 0, open: 25 });
    expect(log.lines).toEqual(['alarm reconcile_failed', 'info reconciled']);
    expect(log.text()).not.toContain('secret of the table');
  });
});

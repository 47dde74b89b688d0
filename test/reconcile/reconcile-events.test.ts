/** What starts the reconciler: its schedule, and the end of an execution. */
import { describe, expect, it } from 'vitest';
import type { CreationStore } from '../../service/creations/creation-store.ts';
import type { OpenWorkStore } from '../../service/creations/open-work-store.ts';
import type { CreationId } from '../../service/values/ids.ts';
import { aCompletedCreation, aCreation, creationId, now } from '../fixtures/records.ts';
import { without } from '../fixtures/values.ts';
import { deadline, idsOf, minute, pagesOf, run, runOver, steps } from './reconcile-fixture.ts';

describe('the event of an execution that died', () => {
  const event = { detail: { status: 'FAILED', input: JSON.stringify({ creation_id: creationId }) } };

  it('The creation is recovered at once, before it is due', async () => {
    const { steps: done, report } = await run({
      creations: [aCreation({ dueAt: now + 60 * minute })],
      event,
    });
    expect(done).toEqual(['ensure 1', 'ask for 1', 'note 2, next look at 180 s', 'start 2']);
    expect(report).toEqual({ looked: 1, started: 1, refunded: 0 });
  });

  const ended = { detail: { ...event.detail, name: creationId } };
  const lease = { holder: 'request-1', until: now + 2 * minute + 6_000 };

  it.each([
    ['is being rendered', aCreation({ status: 'processing', lease })],
    [
      'waits for a callback',
      aCreation({ status: 'processing', machine: 'callback', lease: { ...lease, until: now + 2 * minute } }),
    ],
    ['was never taken up', aCreation()],
  ])('The next execution of a creation that %s starts at once', async (_what, creation) => {
    const setting = { creations: [creation], event: ended, execution: 'running' } as const;
    expect(await steps(setting)).toEqual(['note 2, next look at 180 s', 'start 2']);
  });

  it('The end of an earlier execution does not start another one while the last one works', async () => {
    const creation = aCreation({ status: 'processing', executions: 2, recoveries: 1, lease });
    expect(await steps({ creations: [creation], event: ended })).toEqual(['postpone to 186 s']);
  });

  it('A creation whose deadline is over by then is refunded at once', async () => {
    const setting = { creations: [aCreation({ lease })], event: ended, at: deadline + 10_000 };
    expect(await steps(setting)).toEqual(['refund GenerationTimedOut']);
  });

  it('The event is not logged as a run of the schedule', async () => {
    expect((await run({ creations: [aCreation()], event })).log.lines).toEqual(['info creation_recovered']);
  });

  it('The schedule takes over from the third event on', async () => {
    expect(await steps({ creations: [aCreation({ recoveries: 1 })], event })).toContain('start 2');
    expect(await steps({ creations: [aCreation({ recoveries: 2 })], event })).toEqual([]);
  });

  it('The event changes nothing when the creation needs no more work', async () => {
    expect(await steps({ creations: [without(aCompletedCreation(), 'dueAt')], event })).toEqual([]);
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

  it.each(inputs)('An event with the input %j changes nothing and is logged', async (input) => {
    const event = { detail: { status: 'FAILED', ...(input !== undefined && { input }) } };
    const { steps: done, report, log } = await run({ creations: [aCreation()], event });
    expect(done).toEqual([]);
    expect(report).toEqual({ looked: 0, started: 0, refunded: 0 });
    expect(log.entries).toEqual([['info reconcile_event_ignored', { status: 'FAILED' }]]);
  });

  it('An event without a status whose input is null changes nothing', async () => {
    expect(await steps({ creations: [aCreation()], event: { detail: { input: null } } })).toEqual([]);
  });
});

describe('the event of the schedule', () => {
  it('An event with an empty detail checks everything that is due', async () => {
    const { report } = await run({ creations: [aCreation()], execution: 'absent', event: { detail: {} } });
    expect(report).toEqual({ looked: 1, started: 1, refunded: 0, open: 7 });
  });

  it('One creation that breaks does not keep the others from being checked', async () => {
    const ids = idsOf(25);
    const seen: CreationId[] = [];
    const postponed: CreationId[] = [];
    const lease = { holder: 'request-1', until: now + 3 * minute };
    const readAll: CreationStore['readAll'] = async (asked) => {
      seen.push(...asked);
      return Promise.resolve(asked.map((id) => aCreation({ id, lease })));
    };
    const openWork: Partial<OpenWorkStore> = {
      overdue: () => [pagesOf(ids)],
      recordOpenCount: async () => Promise.resolve(25),
      postpone: async ({ id }) => {
        if (id === ids[3]) throw new TypeError('secret of the table');
        postponed.push(id as CreationId);
        return Promise.resolve(true);
      },
    };
    const { report, log } = await runOver(readAll, openWork, now + 2 * minute);
    expect(postponed).toEqual(ids.filter((id) => id !== ids[3]));
    expect(seen).toEqual(ids);
    expect(report).toEqual({ looked: 25, started: 0, refunded: 0, open: 25 });
    expect(log.lines).toEqual(['alarm reconcile_failed', 'info reconciled']);
    expect(log.text()).not.toContain('secret of the table');
  });
});

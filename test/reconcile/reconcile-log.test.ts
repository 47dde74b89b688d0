import { describe, expect, it } from 'vitest';
import type { StartOutcome } from '../../service/aws/step-functions.ts';
import type { CreationStore } from '../../service/creations/creation-store.ts';
import type { OpenWorkStore } from '../../service/creations/open-work-store.ts';
import type { NoticeExecutions } from '../../service/notices/notice-executions.ts';
import type { NoticeRecord } from '../../service/notices/notice.ts';
import { recoverNotice, type RecoverServices } from '../../service/reconcile/recover.ts';
import { atOnce } from '../../service/reconcile/start-pace.ts';
import type { CreationId, NoticeId } from '../../service/values/ids.ts';
import { fakeClock, fakeLog, stub } from '../api/fakes.ts';
import { accountId, aCompletedCreation, aCreation, creationId, now } from '../fixtures/records.ts';
import { deadline, idsOf, minute, pagesOf, run, runOver, steps } from './reconcile-fixture.ts';

const ids = { creationId, accountId, executionId: creationId };

const webhook = { url: 'https://hooks.test', status: 'pending', attempts: 2, nextAt: now } as const;

describe('the log of a recovery', () => {
  it.each([
    [0, 'info creation_recovered'],
    [1, 'info creation_recovered'],
    [2, 'alarm creation_recovered_again'],
  ])('A recovery after %i others is logged as: %s', async (recoveries, line) => {
    const { log, report } = await run({ creations: [aCreation({ executions: 3, recoveries })] });
    expect(report).toEqual({ looked: 1, started: 1, refunded: 0, open: 7 });
    expect(log.entries).toEqual([
      [line, { ...ids, executionId: `${creationId}-4`, recovery: recoveries + 1 }],
      ['info reconciled', report],
    ]);
  });

  it('A recovery whose start is refused logs the alarm and the refund', async () => {
    const { log, refunds } = await run({ creations: [aCreation()], start: 'refused' });
    const fields = { ...ids, recovery: 1 };
    expect(refunds).toEqual([{ failure: 'ServiceUnavailable', nowMillis: now + 2 * minute, announce: true }]);
    expect(log.entries.slice(0, 2)).toEqual([
      ['alarm start_refused', fields],
      ['info creation_failed', { ...ids, failure: 'ServiceUnavailable', refundedMicros: 40_000 }],
    ]);
  });
});

describe('the log of a creation past its deadline', () => {
  const at = deadline + 10_000;

  it('The log has the refund and the alarm', async () => {
    const { log, refunds, report } = await run({ creations: [aCreation()], at });
    expect(refunds).toEqual([{ failure: 'GenerationTimedOut', nowMillis: at, announce: true }]);
    expect(report).toEqual({ looked: 1, started: 0, refunded: 1, open: 7 });
    expect(log.entries).toEqual([
      ['info creation_failed', { ...ids, failure: 'GenerationTimedOut', refundedMicros: 40_000 }],
      ['alarm creation_past_deadline', ids],
      ['info reconciled', report],
    ]);
  });

  it('The log has no refund when the creation ended meanwhile', async () => {
    const { log, report } = await run({ creations: [aCreation()], at, refund: 'already_terminal' });
    expect(report.refunded).toBe(0);
    expect(log.lines).toEqual(['alarm creation_past_deadline', 'info reconciled']);
  });
});

describe('the next check of a creation', () => {
  it.each([
    [minute, '120 s'],
    [deadline - now - minute, '300 s'],
    [deadline - now - minute + 9_999, '309.999 s'],
    [deadline - now - minute + 10_001, '310 s'],
  ])('The next look comes a minute after the end of a lease of %i ms, at %s', async (millis, when) => {
    const lease = { holder: 'request-1', until: now + millis };
    const done = await steps({ creations: [aCreation({ lease, dueAt: now })], at: now });
    expect(done).toEqual([`postpone to ${when}`]);
  });

  it.each([
    [0, 60],
    [1, 120],
    [4, 960],
    [5, 1_920],
    [6, 3_600],
    [30, 3_600],
  ])('After %i recoveries, a pending webhook is looked at again %i s later', async (recoveries, seconds) => {
    const creation = aCompletedCreation({ webhook, recoveries, dueAt: now });
    expect(await steps({ creations: [creation], at: now })).toContain(`note 2, next look at ${seconds} s`);
  });

  it.each([
    [0, 1],
    [1, 0],
  ])('A creation that is due in %i ms is acted on in %i steps', async (early, count) => {
    const creation = aCompletedCreation({ dueAt: now + early });
    expect(await steps({ creations: [creation], at: now })).toHaveLength(count);
  });
});

describe('a creation that is put off', () => {
  it.each([
    ['to a later look', aCreation({ dueAt: now, lease: { holder: 'request-1', until: now + minute } })],
    ['for good', aCompletedCreation({ dueAt: now })],
  ])('The run waits until the creation is put off %s', async (_what, creation) => {
    const putOff = Promise.withResolvers<boolean>();
    let hasEnded = false;
    const running = runOver(async () => Promise.resolve([creation]), {
      overdue: () => [pagesOf([creationId])],
      recordOpenCount: async () => Promise.resolve(1),
      postpone: async () => putOff.promise,
    }).finally(() => (hasEnded = true));
    await new Promise(setImmediate);
    expect(hasEnded).toBe(false);
    putOff.resolve(true);
    expect((await running).report).toMatchObject({ looked: 1 });
  });
});

describe('a run of the schedule', () => {
  const lease = { holder: 'request-1', until: now + minute };
  const leased = (ids: readonly CreationId[]) => ids.map((id) => aCreation({ id, lease, dueAt: now }));

  it('The run writes for at most 24 creations at a time', async () => {
    const ids = idsOf(99);
    let underWay = 0;
    const most: number[] = [];
    const { report } = await runOver(async (asked) => Promise.resolve(leased(asked)), {
      overdue: (at) => (at === now ? [pagesOf(ids.slice(0, 50)), pagesOf(ids.slice(50))] : []),
      recordOpenCount: async () => Promise.resolve(0),
      postpone: async () => {
        underWay += 1;
        most.push(underWay);
        await new Promise(setImmediate);
        underWay -= 1;
        return true;
      },
    });
    expect(report).toEqual({ looked: 99, started: 0, refunded: 0, open: 0 });
    expect(most).toHaveLength(99);
    expect(Math.max(...most)).toBe(24);
  });

  it('A page that cannot be read is logged, and the run goes on with the next page', async () => {
    let reads = 0;
    const readAll: CreationStore['readAll'] = async (asked) => {
      reads += 1;
      if (reads === 1) throw new TypeError('details');
      return Promise.resolve(leased(asked));
    };
    const { report, log } = await runOver(readAll, {
      overdue: () => [pagesOf([creationId], [creationId])],
      recordOpenCount: async () => Promise.resolve(3),
      postpone: async () => Promise.resolve(true),
    });
    expect(log.entries).toEqual([
      ['alarm reconcile_failed', { error: 'TypeError' }],
      ['info reconciled', report],
    ]);
    expect(report).toEqual({ looked: 2, started: 0, refunded: 0, open: 3 });
  });
});

const aNotice = (change: Partial<NoticeRecord> = {}): NoticeRecord => ({
  id: 'ntc_019aa5a0-1000-7000-8000-00000000000a' as NoticeId,
  accountId,
  type: 'wallet.low',
  createdAt: new Date(now).toISOString(),
  webhook: { url: 'https://hooks.test/n', status: 'pending', attempts: 0, nextAt: now },
  executions: 1,
  recoveries: 0,
  dueAt: now,
  ...change,
});

async function recovered(
  notice: NoticeRecord,
  { outcome = 'started', isNoted = true }: { outcome?: StartOutcome; isNoted?: boolean } = {},
): Promise<{ readonly action: string; readonly steps: string[]; readonly lines: readonly string[] }> {
  const steps: string[] = [];
  const log = fakeLog();
  const action = await recoverNotice(
    notice,
    stub<RecoverServices>({
      clock: fakeClock(now),
      log,
      starts: atOnce,
      openWork: stub<OpenWorkStore>({
        postpone: async (_notice, due) => Promise.resolve(steps.push(`due ${String(due)}`) > 0),
        noteStart: async (_notice, due, number) => {
          steps.push(`note ${number} for ${(due - now) / 1000} s`);
          return Promise.resolve(isNoted);
        },
      }),
      noticeExecutions: stub<NoticeExecutions>({
        start: async (_id, number) => {
          steps.push(`start ${number}`);
          return Promise.resolve(outcome);
        },
      }),
    }),
  );
  return { action, steps, lines: log.lines };
}

/** The reconciler and a notice that nobody sends. */
describe('a notice that is due', () => {
  it('The next execution is noted and started', async () => {
    expect(await recovered(aNotice())).toEqual({
      action: 'started',
      steps: ['note 2 for 60 s', 'start 2'],
      lines: ['info notice_recovered'],
    });
  });

  it('Of two reconcilers only the one that noted the start makes it', async () => {
    expect(await recovered(aNotice(), { isNoted: false })).toMatchObject({
      action: 'left',
      steps: ['note 2 for 60 s'],
    });
  });

  it('A notice that is settled leaves the index of open work', async () => {
    const { webhook } = aNotice();
    expect(await recovered(aNotice({ webhook: { ...webhook, status: 'failed' } }))).toMatchObject({
      action: 'left',
      steps: ['due undefined'],
    });
  });

  it.each([now + 1, undefined])('A notice whose record is not due (%s) is left alone', async (dueAt) => {
    const notice = aNotice();
    const { dueAt: _old, ...rest } = notice;
    expect((await recovered(dueAt === undefined ? rest : { ...rest, dueAt })).steps).toEqual([]);
  });

  it('The third start, and a start that is refused, are alarms', async () => {
    expect((await recovered(aNotice({ recoveries: 2, executions: 3 }))).lines).toEqual([
      'alarm webhook_delivery_broke',
    ]);
    expect((await recovered(aNotice(), { outcome: 'refused' })).lines).toEqual([
      'alarm webhook_delivery_broke',
    ]);
    expect((await recovered(aNotice(), { outcome: 'unclear' })).lines).toEqual(['info notice_recovered']);
  });
});

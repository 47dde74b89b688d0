/** The reconciler and a notice that nobody sends. */
import { describe, expect, it } from 'vitest';
import type { NoticeId } from '../../core/ids.ts';
import type { NoticeRecord } from '../../core/notice.ts';
import type { OpenWorkStore, StartOutcome } from '../../core/ports/executions.ts';
import type { NoticeExecutions } from '../../core/ports/notices.ts';
import type { RecoverServices } from '../../functions/schedule/recover.ts';
import { recoverNotice } from '../../functions/schedule/recover-notice.ts';
import { atOnce } from '../../functions/schedule/start-pace.ts';
import { accountId, now } from '../fixtures/records.ts';
import { fakeClock, fakeLog, stub } from './fakes.ts';

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

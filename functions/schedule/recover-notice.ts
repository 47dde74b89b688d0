/** Sends a notice whose start or execution was lost. Every write has a condition, as for creations. */
import type { NoticeRecord } from '../../core/notice.ts';
import { noticeIdsOf } from '../log-with.ts';
import { alarmingRecovery, waitAfter, type Action, type RecoverServices } from './recover.ts';

/**
 * The claim of an attempt lets only one of two executions send it. So it is not checked whether the last
 * execution still runs.
 */
export async function recoverNotice(notice: NoticeRecord, services: RecoverServices): Promise<Action> {
  const { openWork, noticeExecutions, clock, log, starts } = services;
  if (notice.dueAt === undefined || notice.dueAt > clock.now()) return 'left';
  if (notice.webhook.status !== 'pending') {
    await openWork.postpone(notice, undefined);
    return 'left';
  }
  if (!(await starts.turn())) return 'left';
  const number = notice.executions + 1;
  if (!(await openWork.noteStart(notice, clock.now() + waitAfter(notice), number))) return 'left';
  const outcome = await noticeExecutions.start(notice.id, number);
  starts.heard(outcome !== 'unclear');
  const recovery = notice.recoveries + 1;
  const fields = { ...noticeIdsOf(notice, number), recovery, started: outcome };
  if (outcome === 'refused' || recovery >= alarmingRecovery) log.alarm('webhook_delivery_broke', fields);
  else log.info('notice_recovered', fields);
  return 'started';
}

import type { CreationRecord } from '../creations/creation.ts';
import { noticeIdOfCopy } from '../values/ids.ts';
import { errorName, type Log } from '../values/runtime.ts';
import type { NoticeExecutions } from './notice-executions.ts';

/** Starts the work of a copy that is owed since a moment. The reconciler starts it when this start is lost. */
export async function startCopy(
  { id, copies }: Pick<CreationRecord, 'id' | 'copies'>,
  { noticeExecutions, log }: { readonly noticeExecutions: NoticeExecutions; readonly log: Log },
): Promise<void> {
  if (!copies) return;
  try {
    await noticeExecutions.start(noticeIdOfCopy(id), 1);
  } catch (error) {
    log.info('copy_not_started', { creationId: id, error: errorName(error) });
  }
}

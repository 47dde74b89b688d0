import { type CreationRecord, hasDeletedImages } from '../creations/creation.ts';
import type { NoticeExecutions } from '../notices/notice-executions.ts';
import { noticeIdOfCopy } from '../values/ids.ts';
import { type Clock, isKnownVersion, type Schema } from '../values/runtime.ts';
import type { CopyStore } from './copy-store.ts';

export interface CopyAgainServices {
  readonly clock: Pick<Clock, 'now'>;
  readonly schema: Schema;
  readonly copies: Pick<CopyStore, 'read' | 'reopen'>;
  readonly noticeExecutions: NoticeExecutions;
}

/**
 * 'still_pending': an attempt is due, or a newer release has accepted the creation and only it may change it.
 */
export type RefusedCopy = 'not_completed' | 'no_results' | 'still_pending';

/** Begins a new round of attempts, also for a picture that was ordered before a bucket was set. */
export async function copyAgain(
  creation: CreationRecord,
  { clock, schema, copies, noticeExecutions }: CopyAgainServices,
): Promise<'started' | RefusedCopy> {
  const now = clock.now();
  if (creation.status !== 'completed') return 'not_completed';
  if (hasDeletedImages(creation) || (creation.resultsExpireAt ?? 0) <= now) return 'no_results';
  if (!isKnownVersion(creation.v, schema)) return 'still_pending';
  const known = await copies.read(creation.id);
  if (known?.webhook.status === 'pending') return 'still_pending';
  const execution = await copies.reopen(creation, known, now);
  if (execution === undefined) return 'still_pending';
  // If the start fails, the reconciler finds the work and starts an execution.
  await noticeExecutions.start(noticeIdOfCopy(creation.id), execution);
  return 'started';
}

/** A vendor that reports a stopped job, although the renderer did not cancel it. */
import { isTerminal, type CreationRecord } from '../../core/creation.ts';
import type { CreationStore } from '../../core/ports/creations.ts';
import type { RouteEnd } from './ask-provider.ts';
import { EndedMeanwhile } from './payload.ts';

/**
 * The record with which the end of a route is judged. After a stopped job it is read again, because a cancel may
 * have ended the creation, or may be about to. Throws EndedMeanwhile.
 */
export async function recordFor(
  end: RouteEnd,
  creation: CreationRecord,
  creations: Pick<CreationStore, 'read'>,
): Promise<CreationRecord> {
  if (end.kind !== 'refused' || end.reason !== 'cancelled') return creation;
  const latest = (await creations.read(creation.id)) ?? creation;
  if (isTerminal(latest.status)) throw new EndedMeanwhile();
  return latest;
}

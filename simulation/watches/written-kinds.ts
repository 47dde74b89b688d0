/** What a write is, for the rules about what a request may have written. */
import type { Change } from '../aws/simulated-table.ts';
import { isOfReading } from './event-watch.ts';
import { isOnlyTold } from './notice-watch.ts';

/** Whether a write only notes the last use of a key, which the service notes for refused requests, too. */
function isLastUse({ sk, before, after }: Change): boolean {
  if (!sk.startsWith('KEY#')) return false;
  const { lastUsedAt: _then, ...old } = before ?? {};
  const { lastUsedAt: _now, ...next } = after ?? {};
  return JSON.stringify(old) === JSON.stringify(next);
}

/** Whether a write only notes the last use of a key, or is a deletion that came a second time. */
export function changesNothing(change: Change): boolean {
  return isLastUse(change) || (change.before === undefined && change.after === undefined);
}

/** The sort key up to its first #. A mark of a crossing, and what only reading events writes, are kinds of their own. */
export function kindOf(change: Change): string {
  if (isOnlyTold(change)) return 'TOLD';
  return isOfReading(change) ? 'EVENT' : (change.sk.split('#')[0] ?? '');
}

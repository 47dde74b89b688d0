/** What the watches of the portal know about a request. */
import type { PortalOperationName, Role } from '../../../service/contract/operations.ts';
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

/** One request of the portal, from its beginning to its answer. */
export interface PortalCall {
  readonly id: string;
  readonly name: PortalOperationName;
  readonly account: string;
  readonly person: string;
  readonly startedAt: number;
  readonly pathId: string;
  readonly body: Readonly<Record<string, unknown>>;
  /** The role at the beginning; '' when the person had no place. */
  readonly roleAtFirst: Role | '';
  /** The person's sessions had ended, and this was answered, before the request. */
  readonly isOver: boolean;
  /** Kinds of the rows that it wrote, beside its row in the log of actions. */
  readonly wrote: Set<string>;
  /** How many webhooks it opened again. */
  reopened: number;
  /** The row in the log of actions as it is. */
  row?: { readonly action: string; readonly person: string; readonly outcome: string };
}

/** What the watches of the portal know about a request. */
import type { PortalOperationName, Role } from '../../core/contract.ts';

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

/** Work that is under way: executions, and what the reconciler looks after. */
import type { CreationRecord } from '../creation.ts';
import type { CreationId } from '../ids.ts';

export interface OpenWorkStore {
  /** Ids of creations whose due time has passed, the most overdue first. */
  overdue(nowMillis: number): Promise<readonly CreationId[]>;
  /** Due again later, or not any more (undefined). False when it changed meanwhile. */
  postpone(creation: CreationRecord, dueAt: number | undefined): Promise<boolean>;
  /** Notes that the nth execution is about to be started, and when to look again. False when it changed meanwhile. */
  noteStart(creation: CreationRecord, dueAt: number, execution: number): Promise<boolean>;
  /** Counts what is open and not terminal, into the service item. */
  recordOpenCount(): Promise<number>;
}

/** What starting an execution told us. */
export type StartOutcome = 'started' | 'refused' | 'unclear';

export interface Executions {
  start(id: CreationId, number: number): Promise<StartOutcome>;
  /** Whether the nth execution of a creation runs, ended, or never was. */
  state(id: CreationId, number: number): Promise<'running' | 'ended' | 'absent'>;
}

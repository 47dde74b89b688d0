/** Executions, and the open creations that the reconciler looks after. */
import type { CreationRecord } from '../creation.ts';
import type { CreationId } from '../ids.ts';

export interface OpenWorkStore {
  /** Ids of creations whose due time has passed, the most overdue first. */
  overdue(nowMillis: number): Promise<readonly CreationId[]>;
  /** Sets the time of the next look; undefined removes it. False when the creation changed meanwhile. */
  postpone(creation: CreationRecord, dueAt: number | undefined): Promise<boolean>;
  /**
   * Notes that the nth execution is about to start, and when to look again. False when the creation changed
   * meanwhile.
   */
  noteStart(creation: CreationRecord, dueAt: number, execution: number): Promise<boolean>;
  /** Counts the open creations that are not terminal, and writes the count into the item of the service. */
  recordOpenCount(): Promise<number>;
}

/** What Step Functions answered to the start of an execution. 'unclear': no answer came. */
export type StartOutcome = 'started' | 'refused' | 'unclear';

/** What the input of an execution is made of. */
export type StartedCreation = Pick<CreationRecord, 'id' | 'resolution' | 'sources'>;

export interface Executions {
  /**
   * Starts the nth execution of a creation. Its input depends only on what never changes in the record, so a
   * repeated start is the same start.
   */
  start(creation: StartedCreation, number: number): Promise<StartOutcome>;
  /** Whether the nth execution of a creation runs, has ended, or never existed. */
  state(id: CreationId, number: number): Promise<'running' | 'ended' | 'absent'>;
}

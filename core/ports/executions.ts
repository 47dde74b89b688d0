/** Executions, and the open creations that the reconciler looks after. */
import type { CreationRecord } from '../creation.ts';
import type { CreationId, NoticeId } from '../ids.ts';

/** A creation or a notice whose due time was read. */
export interface OpenWork {
  readonly id: CreationId | NoticeId;
  readonly dueAt?: number;
}

export interface OpenWorkStore {
  /**
   * The creations and the notices whose due time has passed, a list of pages for each shard, the most overdue first. The lists
   * may be read at the same time. A page is asked for when its list comes to it.
   */
  overdue(nowMillis: number): readonly AsyncIterable<readonly (CreationId | NoticeId)[]>[];
  /** Sets the time of the next check; undefined removes it. False when the creation changed meanwhile. */
  postpone(work: OpenWork, dueAt: number | undefined): Promise<boolean>;
  /**
   * Notes that the nth execution is about to start, and the time of the next check. False when the creation
   * changed meanwhile.
   */
  noteStart(work: OpenWork, dueAt: number, execution: number): Promise<boolean>;
  /**
   * How many of the creations that were accepted in the `spanMillis` before a second ago are still open and
   * were never postponed. Most creations are open for that long, so this is the rate of ordinary starts.
   */
  acceptedLately(nowMillis: number, spanMillis: number): Promise<number>;
  /**
   * Takes the right to start executions at the reconciler's pace. False when another run has it. `untilMillis`
   * ends it if the run dies.
   */
  holdStarts(holder: string, untilMillis: number, nowMillis: number): Promise<boolean>;
  /** Gives the right back, if the holder still has it. */
  releaseStarts(holder: string): Promise<void>;
  /**
   * Counts the open creations that are not terminal, and writes the count into the item of the service, with the sum
   * of the counters that goes with it.
   */
  recordOpenCount(): Promise<number>;
}

/** What Step Functions answered to the start of an execution. 'unclear': no answer came. */
export type StartOutcome = 'started' | 'refused' | 'unclear';

/** What is known of an execution after an attempt to start it, without another question. */
export type EnsureOutcome =
  | { readonly kind: 'running'; readonly startedAtMillis: number }
  /** An execution of this name has ended, or runs with the input of an older release. */
  | { readonly kind: 'exists' }
  | { readonly kind: 'refused' | 'unclear' };

/** The fields from which the state machine of an execution, its name and its input follow. */
export type StartedCreation = Pick<CreationRecord, 'id' | 'machine' | 'resolution' | 'sources' | 'v'>;

export interface Executions {
  /**
   * Starts the nth execution of a creation. Its input depends only on what never changes in the record, so a
   * repeated start is the same start.
   */
  start(creation: StartedCreation, number: number): Promise<StartOutcome>;
  /**
   * Starts the nth execution unless it was started before. A start of a running execution changes nothing, and
   * its answer says when the execution began.
   */
  ensure(creation: StartedCreation, number: number): Promise<EnsureOutcome>;
  /** Whether the nth execution of a creation runs, has ended, or never existed. */
  state(
    creation: Pick<CreationRecord, 'id' | 'machine'>,
    number: number,
  ): Promise<'running' | 'ended' | 'absent'>;
}

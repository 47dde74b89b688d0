/** The tasks of executions that wait until somebody ends them. */
import type { CreationId } from '../ids.ts';

/**
 * 'ended': the task waited and has ended now. 'settled': the task was over before. 'unclear': no answer says
 * whether the task has ended.
 */
export type TaskEnd = 'ended' | 'settled' | 'unclear';

export interface Tasks {
  /** Lets the execution go on behind the task. */
  succeed(token: string, creationId: CreationId): Promise<TaskEnd>;
  /** Fails the task with an error that the state machine knows by its name. */
  fail(token: string, error: string): Promise<TaskEnd>;
}

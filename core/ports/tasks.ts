/** Tasks of the state machine that wait until them is ended with their token. */
import type { CreationId } from '../ids.ts';

/**
 * 'ended': Step Functions took the call. 'settled': no task waits with this token, because it has ended or has a newer
 * token by now. 'unclear': no answer came, or the call was refused; a lost heartbeat repeats the task.
 */
export type TaskOutcome = 'ended' | 'settled' | 'unclear';

export interface Tasks {
  /** Ends the rendering of a creation that is terminal. The execution continues with the webhook. */
  succeed(token: string, creationId: CreationId): Promise<TaskOutcome>;
  /** Says that a renderer works on the task, which then waits for the next heartbeat. */
  heartbeat(token: string): Promise<TaskOutcome>;
  /** Ends the rendering with an error, which the state machine knows by its name and treats with a retry. */
  fail(token: string, error: string): Promise<TaskOutcome>;
}

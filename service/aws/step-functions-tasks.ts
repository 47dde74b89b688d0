/** Ends and extends waiting tasks of Step Functions by their tokens. */
import {
  SendTaskFailureCommand,
  SendTaskHeartbeatCommand,
  SendTaskSuccessCommand,
  type SFNClient,
} from '@aws-sdk/client-sfn';
import type { CreationId } from '../values/ids.ts';

/** Step Functions has no task that waits with this token, and no repeat of the call changes that. */
const settled = new Set(['TaskTimedOut', 'TaskDoesNotExist', 'InvalidToken']);

/** Refusals that are defects of ours or of the deployment: no retry clears them. */
const defects = new Set([
  'InvalidToken',
  'InvalidOutput',
  'ValidationException',
  'AccessDeniedException',
  'KmsAccessDeniedException',
  'KmsInvalidStateException',
]);

export interface TasksOptions {
  /** Receives the name of a refusal that an operator has to check. */
  readonly onDefect: (error: string) => void;
  /** Aborts when the time of the request is used up. A call that it interrupts is 'unclear'. */
  readonly signal?: AbortSignal;
}

/** Ends tasks and keeps them alive by their tokens. The client repeats a call that was throttled or lost. */
export function createTasks(client: SFNClient, { onDefect, signal }: TasksOptions): Tasks {
  const options = signal ? { abortSignal: signal } : {};
  const outcomeOf = async (call: Promise<unknown>): Promise<TaskOutcome> => {
    try {
      await call;
      return 'ended';
    } catch (error) {
      const name = error instanceof Error ? error.name : '';
      if (defects.has(name)) onDefect(name);
      return settled.has(name) ? 'settled' : 'unclear';
    }
  };
  return {
    succeed: async (taskToken, creationId) =>
      outcomeOf(
        client.send(
          // The next states read the id alone, as RenderImage's own answer has it on the plain machine.
          new SendTaskSuccessCommand({ taskToken, output: JSON.stringify({ creation_id: creationId }) }),
          options,
        ),
      ),
    heartbeat: async (taskToken) =>
      outcomeOf(client.send(new SendTaskHeartbeatCommand({ taskToken }), options)),
    fail: async (taskToken, error) =>
      outcomeOf(client.send(new SendTaskFailureCommand({ taskToken, error }), options)),
  };
}

// Tasks of the state machine that wait until them is ended with their token.

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

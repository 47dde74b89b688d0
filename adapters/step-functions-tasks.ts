import {
  SendTaskFailureCommand,
  SendTaskHeartbeatCommand,
  SendTaskSuccessCommand,
  type SFNClient,
} from '@aws-sdk/client-sfn';
import type { TaskOutcome, Tasks } from '../core/ports/tasks.ts';

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

import {
  SendTaskFailureCommand,
  SendTaskHeartbeatCommand,
  SendTaskSuccessCommand,
  type SFNClient,
  StartExecutionCommand,
} from '@aws-sdk/client-sfn';
import type { CreationId } from '../values/ids.ts';

/** Errors that no retry clears: the state machine is gone, or the service may not start it. */
const definite = new Set([
  'AccessDeniedException',
  'StateMachineDoesNotExist',
  'StateMachineDeleting',
  'InvalidArn',
  'KmsAccessDeniedException',
  'KmsInvalidStateException',
]);

/** The input must be the same at every start: Step Functions refuses the same name with another input. */
export async function startOf(
  client: SFNClient,
  started: { readonly stateMachineArn: string; readonly name: string; readonly input: string },
  options: { readonly abortSignal?: AbortSignal },
): Promise<EnsureOutcome> {
  try {
    const { startDate } = await client.send(new StartExecutionCommand(started), options);
    return { kind: 'running', startedAtMillis: startDate?.getTime() ?? Infinity };
  } catch (error) {
    const name = error instanceof Error ? error.name : '';
    // Step Functions answers this for a name whose execution has ended, and for a running execution that an
    // older release started with another input.
    if (name === 'ExecutionAlreadyExists') return { kind: 'exists' };
    return { kind: definite.has(name) ? 'refused' : 'unclear' };
  }
}

/** What Step Functions answered to the start of an execution. 'unclear': no answer came. */
export type StartOutcome = 'started' | 'refused' | 'unclear';

/** What is known of an execution after an attempt to start it, without another question. */
export type EnsureOutcome =
  | { readonly kind: 'running'; readonly startedAtMillis: number }
  /** An execution of this name has ended, or runs with the input of an older release. */
  | { readonly kind: 'exists' }
  | { readonly kind: 'refused' | 'unclear' };

// Ends and extends waiting tasks of Step Functions by their tokens.

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
export function createTasks(client: SFNClient, { onDefect, signal }: TasksOptions) {
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
    /** Ends the rendering of a creation that has ended, and with it the execution. */
    succeed: async (taskToken: string, creationId: CreationId): Promise<TaskOutcome> =>
      outcomeOf(
        client.send(
          // The next states read the id alone, as RenderImage's own answer has it on the plain machine.
          new SendTaskSuccessCommand({ taskToken, output: JSON.stringify({ creation_id: creationId }) }),
          options,
        ),
      ),
    /** Says that a renderer works on the task, which then waits for the next heartbeat. */
    heartbeat: async (taskToken: string): Promise<TaskOutcome> =>
      outcomeOf(client.send(new SendTaskHeartbeatCommand({ taskToken }), options)),
    /** Ends the rendering with an error that the state machine knows: RenderImage runs again, or DeliverWebhook follows. */
    fail: async (taskToken: string, error: 'RouteEnded' | 'WebhookNotDelivered'): Promise<TaskOutcome> =>
      outcomeOf(client.send(new SendTaskFailureCommand({ taskToken, error }), options)),
  };
}

// Tasks of the state machine that wait until them is ended with their token.

/** 'settled': no task waits with this token any more. 'unclear': a lost heartbeat repeats the task. */
export type TaskOutcome = 'ended' | 'settled' | 'unclear';

export type Tasks = ReturnType<typeof createTasks>;

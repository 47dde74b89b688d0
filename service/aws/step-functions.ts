import { type SFNClient, StartExecutionCommand } from '@aws-sdk/client-sfn';

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

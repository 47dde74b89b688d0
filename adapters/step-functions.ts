import { DescribeExecutionCommand, StartExecutionCommand, type SFNClient } from '@aws-sdk/client-sfn';
import { executionName } from '../core/creation.ts';
import type { CreationId } from '../core/ids.ts';
import type { EnsureOutcome, Executions } from '../core/ports/executions.ts';

/** Errors that no retry clears: the state machine is gone, or the service may not start it. */
const definite = new Set([
  'AccessDeniedException',
  'StateMachineDoesNotExist',
  'StateMachineDeleting',
  'InvalidArn',
  'KmsAccessDeniedException',
  'KmsInvalidStateException',
]);

/**
 * Starts executions of one state machine and asks for their state. An execution has the name of its creation,
 * so that two starts of the same execution start only one.
 * @param signal aborts when the time of the request is used up. A start that it interrupts is 'unclear'.
 */
export function createExecutions(
  client: SFNClient,
  stateMachineArn: string,
  signal?: AbortSignal,
): Executions {
  const options = signal ? { abortSignal: signal } : {};
  return {
    start: async (id, number) => {
      const { kind } = await ensure(client, stateMachineArn, id, number, options);
      // An execution that ended before was started.
      return kind === 'running' || kind === 'ended' ? 'started' : kind;
    },
    ensure: async (id, number) => ensure(client, stateMachineArn, id, number, options),
    state: async (id, number) => {
      try {
        const executionArn = `${stateMachineArn.replace(':stateMachine:', ':execution:')}:${executionName(id, number)}`;
        const answer = await client.send(new DescribeExecutionCommand({ executionArn }), options);
        return answer.status === 'RUNNING' || answer.status === 'PENDING_REDRIVE' ? 'running' : 'ended';
      } catch (error) {
        if (error instanceof Error && error.name === 'ExecutionDoesNotExist') return 'absent';
        throw error;
      }
    },
  };
}

async function ensure(
  client: SFNClient,
  stateMachineArn: string,
  id: CreationId,
  number: number,
  options: { readonly abortSignal?: AbortSignal },
): Promise<EnsureOutcome> {
  try {
    const { startDate } = await client.send(
      new StartExecutionCommand({
        stateMachineArn,
        name: executionName(id, number),
        // The input must be the same at every start: Step Functions refuses the same name with another input.
        input: JSON.stringify({ creation_id: id }),
      }),
      options,
    );
    return { kind: 'running', startedAtMillis: startDate?.getTime() ?? Infinity };
  } catch (error) {
    const name = error instanceof Error ? error.name : '';
    // Step Functions answers this only for a name whose execution has ended.
    if (name === 'ExecutionAlreadyExists') return { kind: 'ended' };
    return { kind: definite.has(name) ? 'refused' : 'unclear' };
  }
}

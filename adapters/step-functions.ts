import { DescribeExecutionCommand, StartExecutionCommand, type SFNClient } from '@aws-sdk/client-sfn';
import { executionName } from '../core/creation.ts';
import type { CreationId } from '../core/ids.ts';
import type { Executions, StartOutcome } from '../core/ports/executions.ts';

/** Errors that no retry clears: the machine is gone or not ours to start. */
const definite = new Set([
  'AccessDeniedException',
  'StateMachineDoesNotExist',
  'StateMachineDeleting',
  'InvalidArn',
  'KmsAccessDeniedException',
  'KmsInvalidStateException',
]);

/**
 * Executions of one state machine, named after their creation: starting the same one twice starts one.
 * @param signal aborts when the time of the request is used up; a start that it breaks off is 'unclear'
 */
export function createExecutions(
  client: SFNClient,
  stateMachineArn: string,
  signal?: AbortSignal,
): Executions {
  const options = signal ? { abortSignal: signal } : {};
  return {
    start: async (id, number) => startOutcome(client, stateMachineArn, id, number, options),
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

async function startOutcome(
  client: SFNClient,
  stateMachineArn: string,
  id: CreationId,
  number: number,
  options: { readonly abortSignal?: AbortSignal },
): Promise<StartOutcome> {
  try {
    await client.send(
      new StartExecutionCommand({
        stateMachineArn,
        name: executionName(id, number),
        // Byte-stable: the same name with another input would be refused instead of being the same start.
        input: JSON.stringify({ creation_id: id }),
      }),
      options,
    );
    return 'started';
  } catch (error) {
    const name = error instanceof Error ? error.name : '';
    if (name === 'ExecutionAlreadyExists') return 'started';
    return definite.has(name) ? 'refused' : 'unclear';
  }
}

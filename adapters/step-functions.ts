import { DescribeExecutionCommand, StartExecutionCommand, type SFNClient } from '@aws-sdk/client-sfn';
import { executionName } from '../core/creation.ts';
import { rendererOf, renderers } from '../core/renderer.ts';
import type { EnsureOutcome, Executions, StartedCreation } from '../core/ports/executions.ts';
import type { NoticeExecutions } from '../core/ports/notices.ts';

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
    start: async (creation, number) => {
      const { kind } = await ensure(client, stateMachineArn, creation, number, options);
      return kind === 'running' || kind === 'exists' ? 'started' : kind;
    },
    ensure: async (creation, number) => ensure(client, stateMachineArn, creation, number, options),
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

/**
 * Starts executions of the machine that sends notices.
 * @param signal as of createExecutions()
 */
export function createNoticeExecutions(
  client: SFNClient,
  stateMachineArn: string,
  signal?: AbortSignal,
): NoticeExecutions {
  const options = signal ? { abortSignal: signal } : {};
  return {
    start: async (id, number) => {
      const input = JSON.stringify({ notice_id: id });
      const name = executionName(id, number);
      const { kind } = await startOf(client, { stateMachineArn, name, input }, options);
      return kind === 'running' || kind === 'exists' ? 'started' : kind;
    },
  };
}

async function ensure(
  client: SFNClient,
  stateMachineArn: string,
  creation: StartedCreation,
  number: number,
  options: { readonly abortSignal?: AbortSignal },
): Promise<EnsureOutcome> {
  const name = executionName(creation.id, number);
  return startOf(client, { stateMachineArn, name, input: inputOf(creation) }, options);
}

/** The input must be the same at every start: Step Functions refuses the same name with another input. */
async function startOf(
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

/**
 * The state machine finds the index between the number signs (statemachines/creation.asl.json). Intrinsic
 * functions can split a text, but they have no default for a field that is not there.
 */
function inputOf(creation: StartedCreation): string {
  const index = renderers.indexOf(rendererOf(creation));
  return JSON.stringify({ creation_id: creation.id, renderer: `#${index}#` });
}

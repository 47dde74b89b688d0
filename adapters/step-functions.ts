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

/** The ARNs of both state machines. */
export interface StateMachines {
  readonly plain: string;
  readonly callback: string;
}

/**
 * Starts executions of the state machine that a creation names, and asks for their state. An execution has the name of its creation,
 * so that two starts of the same execution start only one.
 * @param signal aborts when the time of the request is used up. A start that it interrupts is 'unclear'.
 */
export function createExecutions(
  client: SFNClient,
  machines: StateMachines,
  signal?: AbortSignal,
): Executions {
  const options = signal ? { abortSignal: signal } : {};
  return {
    start: async (creation, number) => {
      const { kind } = await ensure(client, arnOf(machines, creation), creation, number, options);
      return kind === 'running' || kind === 'exists' ? 'started' : kind;
    },
    ensure: async (creation, number) => ensure(client, arnOf(machines, creation), creation, number, options),
    state: async (creation, number) => {
      try {
        const machine = arnOf(machines, creation);
        const executionArn = `${machine.replace(':stateMachine:', ':execution:')}:${executionName(creation.id, number)}`;
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

function arnOf({ plain, callback }: StateMachines, { machine }: Pick<StartedCreation, 'machine'>): string {
  return machine === 'callback' ? callback : plain;
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
 * functions can split a text, but they have no default for a field that is not there. The version is that of the
 * record, so that a later release starts the same execution with the same input.
 */
function inputOf(creation: StartedCreation): string {
  const index = renderers.indexOf(rendererOf(creation));
  const { id, v } = creation;
  return JSON.stringify({ creation_id: id, renderer: `#${index}#`, ...(v !== undefined && { v }) });
}

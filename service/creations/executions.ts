/** Starts the executions of creations, and asks how they ended. */
import { DescribeExecutionCommand, type SFNClient } from '@aws-sdk/client-sfn';
import { type EnsureOutcome, startOf, type StartOutcome } from '../aws/step-functions.ts';
import { type CreationId, executionName, type NoticeId } from '../values/ids.ts';
import type { CreationRecord } from './creation.ts';
import { rendererOf, renderers } from './machines.ts';

export interface StateMachines {
  readonly plain: string;
  readonly callback: string;
}

/**
 * Starts executions of the state machine that a creation names, and asks for their state. An execution has the name of its creation,
 * so that two starts of the same execution start only one.
 * @param signal aborts when the time of the request is used up. A start that it interrupts is 'unclear'.
 */
export function createExecutions(client: SFNClient, machines: StateMachines, signal?: AbortSignal) {
  const options = signal ? { abortSignal: signal } : {};
  return {
    /** Starts the nth execution. Its input never changes, so a repeated start is the same start. */
    start: async (creation: StartedCreation, number: number): Promise<StartOutcome> => {
      const { kind } = await ensure(client, arnOf(machines, creation), creation, number, options);
      return kind === 'running' || kind === 'exists' ? 'started' : kind;
    },
    /** Starts the nth execution if it is not started. The answer says when a running one began. */
    ensure: async (creation: StartedCreation, number: number): Promise<EnsureOutcome> =>
      ensure(client, arnOf(machines, creation), creation, number, options),
    state: async (
      creation: Pick<CreationRecord, 'id' | 'machine'>,
      number: number,
    ): Promise<'running' | 'ended' | 'absent'> => {
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

/** The state machine finds the index between the number signs: intrinsic functions have no defaults. */
function inputOf(creation: StartedCreation): string {
  const index = renderers.indexOf(rendererOf(creation));
  const { id, v } = creation;
  return JSON.stringify({ creation_id: id, renderer: `#${index}#`, ...(v !== undefined && { v }) });
}

// Executions, and the open creations that the reconciler checks.

export interface OpenWork {
  readonly id: CreationId | NoticeId;
  readonly dueAt?: number;
}

/** The fields from which the state machine of an execution, its name and its input follow. */
type StartedCreation = Pick<CreationRecord, 'id' | 'machine' | 'resolution' | 'sources' | 'v'>;

export type Executions = ReturnType<typeof createExecutions>;

/** The stand-in of Step Functions: the operations that the service and its operator call. They refuse as AWS does. */
import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import {
  type AwsCall,
  type AwsOutput,
  type AwsService,
  localRegion,
  parseInput,
  serviceOf,
} from '../aws/aws-call.ts';
import { AwsError } from '../aws/aws-error.ts';
import { parseJson } from '../json.ts';
import type { Execution, Executions } from './executions.ts';
import type { Interpreter } from './interpreter.ts';
import type { HistoryEvent } from './state-machine.ts';
import { executionOfToken, type TaskMessage } from './task-tokens.ts';

const startSchema = z.object({
  stateMachineArn: z.string(),
  name: z.string().optional(),
  input: z.string().default('{}'),
});
const executionSchema = z.object({ executionArn: z.string() });
const listSchema = z.object({
  stateMachineArn: z.string(),
  statusFilter: z.string().optional(),
  maxResults: z.int().default(100),
  nextToken: z.string().regex(/^\d+$/).default('0'),
});
const machineSchema = z.object({ stateMachineArn: z.string() });

/** The names that Step Functions accepts: no white space, brackets, wildcards or control characters. */
// oxlint-disable-next-line no-control-regex -- the control characters are what AWS refuses
const namePattern = /^[^\s<>{}[\]?*"#%\\^|~`$&,;:/\u0000-\u001f\u007f-\u009f]{1,80}$/;

/** @param machines the definitions of the state machines, by their ARNs */
export function createStatesService(
  executions: Executions,
  machines: ReadonlyMap<string, string>,
  sendToTask: Interpreter['sendToTask'],
): AwsService {
  const requireMachine = (arn: string): string => {
    const definition = machines.get(arn);
    if (definition === undefined)
      throw new AwsError('StateMachineDoesNotExist', `State Machine Does Not Exist: '${arn}'`);
    return definition;
  };
  const machineOf = (stateMachineArn: string): AwsOutput => ({
    stateMachineArn,
    name: stateMachineArn.replace(/^.*:/, ''),
    definition: requireMachine(stateMachineArn),
    roleArn: '',
  });
  const found = (call: AwsCall): Execution => {
    const { executionArn } = parseInput(executionSchema, call);
    const execution = executions.find(executionArn);
    if (execution === undefined)
      throw new AwsError('ExecutionDoesNotExist', `Execution Does Not Exist: '${executionArn}'`);
    return execution;
  };

  async function startExecution(call: AwsCall): Promise<AwsOutput> {
    const { stateMachineArn, name = randomUUID(), input } = parseInput(startSchema, call);
    requireMachine(stateMachineArn);
    if (!namePattern.test(name)) throw new AwsError('InvalidName', `Invalid Name: '${name}'`);
    if (parseJson(input) === undefined)
      throw new AwsError('InvalidExecutionInput', 'Invalid State Machine Execution Input: not JSON');
    const arn = `${stateMachineArn.replace(':stateMachine:', ':execution:')}:${name}`;
    const known = executions.find(arn);
    // A repeated start with the same input gets the first answer. A name stays in use for 90 days.
    if (known !== undefined && (known.status !== 'RUNNING' || known.input !== input))
      throw new AwsError('ExecutionAlreadyExists', `Execution Already Exists: '${arn}'`);
    const execution = known ?? executions.start(stateMachineArn, { name, arn }, input);
    await executions.settled();
    return { executionArn: arn, startDate: new Date(execution.startedAt) };
  }

  function listExecutions(call: AwsCall): AwsOutput {
    const { stateMachineArn, statusFilter, maxResults, nextToken } = parseInput(listSchema, call);
    requireMachine(stateMachineArn);
    const wanted = executions
      .list()
      .filter(
        ({ machineArn, status }) =>
          machineArn === stateMachineArn && (statusFilter === undefined || status === statusFilter),
      )
      .sort((left, right) => right.startedAt - left.startedAt);
    const from = Number(nextToken);
    return {
      ...(from + maxResults < wanted.length && { nextToken: String(from + maxResults) }),
      executions: wanted.slice(from, from + maxResults).map((one) => {
        const { input: _input, output: _output, error: _error, cause: _cause, ...listed } = describe(one);
        return listed;
      }),
    };
  }

  const sendTask =
    (operation: SendTaskOperation) =>
    async ({ input }: AwsCall): Promise<AwsOutput> => {
      const { token, executionArn, message } = readSendTask(operation, input);
      const execution = executions.find(executionArn);
      if (execution === undefined) throw taskDoesNotExist();
      if (execution.status !== 'RUNNING' || !(await sendToTask(token, message))) throw taskTimedOut();
      return {};
    };
  return serviceOf({
    StartExecution: startExecution,
    DescribeExecution: (call) => describe(found(call)),
    GetExecutionHistory: (call) => ({ events: found(call).history.map(historyEvent) }),
    StopExecution: (call) => {
      const { arn } = found(call);
      return { stopDate: new Date(executions.stop(arn)?.stoppedAt ?? 0) };
    },
    ListExecutions: listExecutions,
    DescribeStateMachine: (call) => ({
      ...machineOf(parseInput(machineSchema, call).stateMachineArn),
      status: 'ACTIVE',
      type: 'STANDARD',
      creationDate: new Date(0),
    }),
    // An execution that was open when the service ended runs again with the definition of today.
    DescribeStateMachineForExecution: (call) => ({
      ...machineOf(found(call).machineArn),
      updateDate: new Date(0),
    }),
    ...Object.fromEntries(sendTaskOperations.map((operation) => [operation, sendTask(operation)])),
  });
}

function describe(execution: Execution): AwsOutput {
  const { arn, machineArn, name, status, startedAt, stoppedAt, input, output, error, cause } = execution;
  return {
    executionArn: arn,
    stateMachineArn: machineArn,
    name,
    status,
    startDate: new Date(startedAt),
    input,
    ...(stoppedAt !== undefined && { stopDate: new Date(stoppedAt) }),
    ...(output !== undefined && { output }),
    ...(error !== undefined && { error }),
    ...(cause !== undefined && { cause }),
  };
}

/** An event of the history, in the form of AWS. The stand-in has fewer kinds of events. */
function historyEvent({ type, at, state, error, parameters }: HistoryEvent, place: number): AwsOutput {
  return {
    id: place + 1,
    timestamp: new Date(at),
    type: type === 'StateEntered' ? 'TaskStateEntered' : type,
    ...(type === 'StateEntered' && { stateEnteredEventDetails: { name: state } }),
    ...(parameters !== undefined && {
      taskScheduledEventDetails: {
        resourceType: 'lambda',
        resource: 'invoke.waitForTaskToken',
        region: localRegion,
        parameters: JSON.stringify(parameters),
      },
    }),
    ...(type === 'TaskFailed' && { taskFailedEventDetails: { error } }),
    ...(type === 'TaskTimedOut' && { taskTimedOutEventDetails: { error } }),
  };
}

interface SentMessage {
  readonly token: string;
  readonly executionArn: string;
  readonly message: TaskMessage;
}

const sendTaskOperations = ['SendTaskSuccess', 'SendTaskFailure', 'SendTaskHeartbeat'] as const;
export type SendTaskOperation = (typeof sendTaskOperations)[number];

/** Whether the operation is one of those that a task's token ends or keeps alive. */
export function isSendTask(operation: string): operation is SendTaskOperation {
  return sendTaskOperations.some((known) => known === operation);
}

/** The longest token, error and cause in characters, and the longest output in bytes (API reference). */
const longest = { token: 2_048, error: 256, cause: 32_768, outputBytes: 262_144 } as const;

const heartbeatSchema = z.object({ taskToken: z.string().min(1).max(longest.token) });
const successSchema = heartbeatSchema.extend({ output: z.string() });
const failureSchema = heartbeatSchema.extend({
  // Step Functions needs a name to compare with the retriers. Nothing says which one a nameless failure has.
  error: z.string().max(longest.error).default('States.TaskFailed'),
  cause: z.string().max(longest.cause).default(''),
});

/** Throws InvalidToken, InvalidOutput or ValidationException. */
export function readSendTask(operation: SendTaskOperation, input: unknown): SentMessage {
  const call = { operation, input };
  switch (operation) {
    case 'SendTaskSuccess': {
      const { taskToken, output } = parseInput(successSchema, call);
      return { ...tokenIn(taskToken), message: { kind: 'success', output: outputIn(output) } };
    }
    case 'SendTaskFailure': {
      const { taskToken, ...failure } = parseInput(failureSchema, call);
      return { ...tokenIn(taskToken), message: { kind: 'failure', ...failure } };
    }
    case 'SendTaskHeartbeat':
      return { ...tokenIn(parseInput(heartbeatSchema, call).taskToken), message: { kind: 'heartbeat' } };
  }
}

/** The refusal for a task that has ended, was given up, or belongs to an execution that is over. */
export function taskTimedOut(): AwsError {
  return new AwsError('TaskTimedOut', "Task Timed Out: 'Provided task does not exist anymore'");
}

export function taskDoesNotExist(): AwsError {
  return new AwsError('TaskDoesNotExist', 'Task does not exist');
}

function tokenIn(token: string): { readonly token: string; readonly executionArn: string } {
  const executionArn = executionOfToken(token);
  if (executionArn === undefined) throw new AwsError('InvalidToken', "Invalid Token: 'Invalid token'");
  return { token, executionArn };
}

function outputIn(text: string): unknown {
  const output = Buffer.byteLength(text) > longest.outputBytes ? undefined : parseJson(text);
  if (output !== undefined) return output;
  const reason = `not JSON, or longer than ${longest.outputBytes} bytes`;
  throw new AwsError('InvalidOutput', `Invalid Output: ${reason}`);
}

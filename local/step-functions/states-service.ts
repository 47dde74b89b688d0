import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import type { AwsOutput, AwsService } from '../aws/aws-call.ts';
import { AwsError } from '../aws/aws-error.ts';
import type { Execution, Executions } from './executions.ts';
import type { Interpreter } from './interpreter.ts';
import { executionOfToken, type TaskMessage } from './task-tokens.ts';

// SendTaskSuccess, SendTaskFailure and SendTaskHeartbeat: what a call says, and the refusals of AWS.

/** A call that reached the task of an execution. */
export interface SentMessage {
  readonly token: string;
  readonly executionArn: string;
  readonly message: TaskMessage;
}

export const sendTaskOperations = ['SendTaskSuccess', 'SendTaskFailure', 'SendTaskHeartbeat'] as const;
export type SendTaskOperation = (typeof sendTaskOperations)[number];

/** The longest token, error and cause in characters, and the longest output in bytes (API reference). */
const longest = { token: 2_048, error: 256, cause: 32_768, outputBytes: 262_144 } as const;

const token = z.string().min(1).max(longest.token);
const successSchema = z.object({ taskToken: token, output: z.string() });
const failureSchema = z.object({
  taskToken: token,
  // Step Functions needs a name to compare with the retriers. Nothing says which one a nameless failure has.
  error: z.string().max(longest.error).default('States.TaskFailed'),
  cause: z.string().max(longest.cause).default(''),
});
const heartbeatSchema = z.object({ taskToken: token });

/** Throws InvalidToken, InvalidOutput or ValidationException. */
export function readSendTask(operation: SendTaskOperation, input: unknown): SentMessage {
  switch (operation) {
    case 'SendTaskSuccess': {
      const { taskToken, output } = read(successSchema, input);
      return { ...tokenIn(taskToken), message: { kind: 'success', output: outputIn(output) } };
    }
    case 'SendTaskFailure': {
      const { taskToken, error, cause } = read(failureSchema, input);
      return { ...tokenIn(taskToken), message: { kind: 'failure', error, cause } };
    }
    case 'SendTaskHeartbeat': {
      const { taskToken } = read(heartbeatSchema, input);
      return { ...tokenIn(taskToken), message: { kind: 'heartbeat' } };
    }
  }
}

/** The refusal for a task that has ended, was given up, or belongs to an execution that is over. */
export function taskTimedOut(): AwsError {
  return new AwsError('TaskTimedOut', "Task Timed Out: 'Provided task does not exist anymore'");
}

/** The refusal for a token of an unknown execution. */
export function taskDoesNotExist(): AwsError {
  return new AwsError('TaskDoesNotExist', 'Task does not exist');
}

/** Whether the operation is one of those that a task's token ends or keeps alive. */
export function isSendTask(operation: string): operation is SendTaskOperation {
  return sendTaskOperations.some((known) => known === operation);
}

function tokenIn(text: string): { readonly token: string; readonly executionArn: string } {
  const executionArn = executionOfToken(text);
  if (executionArn === undefined) throw new AwsError('InvalidToken', "Invalid Token: 'Invalid token'");
  return { token: text, executionArn };
}

function outputIn(text: string): unknown {
  if (Buffer.byteLength(text) > longest.outputBytes)
    throw new AwsError('InvalidOutput', `Invalid Output: longer than ${longest.outputBytes} bytes`);
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new AwsError('InvalidOutput', 'Invalid Output: not JSON');
  }
}

function read<Schema extends z.ZodType>(schema: Schema, input: unknown): z.output<Schema> {
  const parsed = schema.safeParse(input);
  if (parsed.success) return parsed.data;
  throw new AwsError(
    'ValidationException',
    parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; '),
  );
}

const startSchema = z.object({
  stateMachineArn: z.string(),
  name: z.string().optional(),
  input: z.string().default('{}'),
});
const executionSchema = z.object({ executionArn: z.string() });
const listSchema = z.object({
  stateMachineArn: z.string(),
  statusFilter: z.string().optional(),
  maxResults: z.int().optional(),
  nextToken: z.string().regex(/^\d+$/).optional(),
});
const machineSchema = z.object({ stateMachineArn: z.string() });

/** The definitions of the state machines, by their ARNs. */
type Machines = ReadonlyMap<string, string>;

/** The names that Step Functions accepts: no white space, brackets, wildcards or control characters. */
// oxlint-disable-next-line no-control-regex -- the control characters are what AWS refuses
const namePattern = /^[^\s<>{}[\]?*"#%\\^|~`$&,;:/\u0000-\u001f\u007f-\u009f]{1,80}$/;

/**
 * The stand-in of Step Functions: the operations that the service and its operator call. They refuse as AWS
 * does.
 */
export function createStatesService(
  executions: Executions,
  machines: Machines,
  sendToTask: Interpreter['sendToTask'],
): AwsService {
  const operations: Record<string, (input: Record<string, unknown>) => AwsOutput> = {
    StartExecution: (input) => startExecution(executions, machines, readOfStatesService(startSchema, input)),
    DescribeExecution: (input) => describe(found(executions, input)),
    StopExecution: (input) => {
      const { arn } = found(executions, input);
      return { stopDate: date(executions.stop(arn)?.stoppedAt ?? 0) };
    },
    ListExecutions: (input) => listExecutions(executions, machines, readOfStatesService(listSchema, input)),
    DescribeStateMachine: (input) => {
      const { stateMachineArn } = readOfStatesService(machineSchema, input);
      return {
        ...machineOf(machines, stateMachineArn),
        status: 'ACTIVE',
        type: 'STANDARD',
        creationDate: date(0),
      };
    },
    // An execution that was open when the service ended runs again with the definition of today.
    DescribeStateMachineForExecution: (input) => ({
      ...machineOf(machines, found(executions, input).machineArn),
      updateDate: date(0),
    }),
  };
  return async (call) => {
    if (isSendTask(call.operation)) return sendTask(executions, sendToTask, call.operation, call.input);
    const operation = operations[call.operation];
    if (operation === undefined)
      throw new AwsError('UnknownOperationException', `${call.operation} does not run locally`);
    return operation(call.input);
  };
}

async function sendTask(
  executions: Executions,
  sendToTask: Interpreter['sendToTask'],
  operation: SendTaskOperation,
  input: unknown,
): Promise<AwsOutput> {
  const { token, executionArn, message } = readSendTask(operation, input);
  const execution = executions.find(executionArn);
  if (execution === undefined) throw taskDoesNotExist();
  if (execution.status !== 'RUNNING' || !(await sendToTask(token, message))) throw taskTimedOut();
  return {};
}

function startExecution(
  executions: Executions,
  machines: Machines,
  { stateMachineArn, name = randomUUID(), input }: z.output<typeof startSchema>,
): AwsOutput {
  if (!machines.has(stateMachineArn)) throw noMachine(stateMachineArn);
  if (!namePattern.test(name)) throw new AwsError('InvalidName', `Invalid Name: '${name}'`);
  if (!isJson(input))
    throw new AwsError('InvalidExecutionInput', 'Invalid State Machine Execution Input: not JSON');
  const arn = `${stateMachineArn.replace(':stateMachine:', ':execution:')}:${name}`;
  const known = executions.find(arn);
  // A repeated start with the same input gets the first answer. After the execution has closed, its name
  // stays in use for 90 days.
  if (known !== undefined && (known.status !== 'RUNNING' || known.input !== input)) {
    throw new AwsError('ExecutionAlreadyExists', `Execution Already Exists: '${arn}'`);
  }
  const execution = known ?? executions.start(stateMachineArn, { name, arn }, input);
  return { executionArn: arn, startDate: date(execution.startedAt) };
}

function listExecutions(
  executions: Executions,
  machines: Machines,
  { stateMachineArn, statusFilter, maxResults = 100, nextToken = '0' }: z.output<typeof listSchema>,
): AwsOutput {
  if (!machines.has(stateMachineArn)) throw noMachine(stateMachineArn);
  const wanted = executions
    .list()
    .filter(
      (one) =>
        one.machineArn === stateMachineArn && (statusFilter === undefined || one.status === statusFilter),
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

function machineOf(machines: Machines, stateMachineArn: string): AwsOutput {
  const definition = machines.get(stateMachineArn);
  if (definition === undefined) throw noMachine(stateMachineArn);
  return { stateMachineArn, name: stateMachineArn.replace(/^.*:/, ''), definition, roleArn: '' };
}

function describe(execution: Execution): AwsOutput {
  const { arn, machineArn, name, status, startedAt, stoppedAt, input, output, error, cause } = execution;
  return {
    executionArn: arn,
    stateMachineArn: machineArn,
    name,
    status,
    startDate: date(startedAt),
    input,
    ...(stoppedAt === undefined ? {} : { stopDate: date(stoppedAt) }),
    ...(output === undefined ? {} : { output }),
    ...(error === undefined ? {} : { error }),
    ...(cause === undefined ? {} : { cause }),
  };
}

function found(executions: Executions, input: Record<string, unknown>): Execution {
  const { executionArn } = readOfStatesService(executionSchema, input);
  const execution = executions.find(executionArn);
  if (execution === undefined)
    throw new AwsError('ExecutionDoesNotExist', `Execution Does Not Exist: '${executionArn}'`);
  return execution;
}

function noMachine(arn: string): AwsError {
  return new AwsError('StateMachineDoesNotExist', `State Machine Does Not Exist: '${arn}'`);
}

function readOfStatesService<Schema extends z.ZodType>(schema: Schema, input: unknown): z.output<Schema> {
  const parsed = schema.safeParse(input);
  if (!parsed.success)
    throw new AwsError(
      'ValidationException',
      parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; '),
    );
  return parsed.data;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function date(millis: number): Date {
  return new Date(millis);
}

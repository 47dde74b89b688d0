/** SendTaskSuccess, SendTaskFailure and SendTaskHeartbeat: what a call says, and the refusals of AWS. */
import * as z from 'zod';
import { AwsError } from '../aws/aws-error.ts';
import { executionOfToken } from './task-tokens.ts';
import type { TaskMessage } from './task-tokens.ts';

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

/** Tasks that wait for their tokens, over real sockets with the real SDK (docs/step-functions-tokens.md). */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { DynamoDBClient, QueryCommand } from '@aws-sdk/client-dynamodb';
import {
  DescribeExecutionCommand,
  SendTaskFailureCommand,
  SendTaskHeartbeatCommand,
  SendTaskSuccessCommand,
  SFNClient,
  StartExecutionCommand,
  StopExecutionCommand,
} from '@aws-sdk/client-sfn';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startOneMachine, type OneMachine } from '../../local/one-machine.ts';
import { readServiceRecord } from '../../local/service-record.ts';
import { firstLineOf, newFolder, writeStack } from './machine-fixture.ts';
import type { FixtureStack } from './machine-fixture.ts';

const stateMachineArn = 'arn:aws:states:us-east-1:000000000000:stateMachine:Machine';
const arnOf = (name: string): string => `arn:aws:states:us-east-1:000000000000:execution:Machine:${name}`;
const waiting = {
  Type: 'Task',
  Resource: 'arn:aws:states:::lambda:invoke.waitForTaskToken',
  Parameters: {
    FunctionName: '${Work}',
    Payload: { 'id.$': '$.id', 'does.$': '$.does', 'token.$': '$$.Task.Token' },
  },
  HeartbeatSeconds: 60,
  TimeoutSeconds: 150,
  Catch: [{ ErrorEquals: ['States.ALL'], ResultPath: '$.failure', Next: 'Caught' }],
  Next: 'Done',
};
const retrying = (...ErrorEquals: string[]): object => ({
  ...waiting,
  Retry: [{ ErrorEquals, IntervalSeconds: 1, BackoffRate: 1, MaxAttempts: 1 }],
});
/** Each attempt writes its virtual instant and its token into the table. */
const stack: FixtureStack = {
  functions: {
    Work: {
      code: `
      await putNote(event.id, Date.now() + ' ' + event.token);
      if (event.does === 'throws') throw Object.assign(new Error('why'), { name: 'Broken' });
      if (event.does === 'ends early') {
        await aws('AWSStepFunctions.SendTaskSuccess', { taskToken: event.token, output: '{"early":true}' });
        await new Promise((resolve) => setTimeout(resolve, 1000));
      }
      return { ignored: true };`,
    },
  },
  machine: {
    StartAt: 'Choose',
    States: {
      Choose: {
        Type: 'Choice',
        Choices: ['TimeOuts', 'TaskFailed', 'RouteEnded'].map((Next) => ({
          Variable: '$.retries',
          StringEquals: Next,
          Next,
        })),
      },
      TimeOuts: retrying('States.Timeout', 'States.HeartbeatTimeout'),
      TaskFailed: retrying('States.TaskFailed'),
      RouteEnded: retrying('RouteEnded'),
      Caught: { Type: 'Succeed', OutputPath: '$.failure' },
      Done: { Type: 'Succeed' },
    },
  },
};

const folder = newFolder(afterAll);
const template = path.join(folder, 'Fixture.template.json');
let machine: OneMachine;
let client: SFNClient;

const settings = (endpoint: string) => ({
  endpoint,
  maxAttempts: 1,
  region: 'us-east-1',
  credentials: { accessKeyId: 'operator', secretAccessKey: 'local' },
});
const clientOf = (endpoint: string, maxAttempts = 1): SFNClient =>
  new SFNClient({ ...settings(endpoint), maxAttempts });
beforeAll(async () => {
  writeStack(folder, stack);
  machine = await open('data');
  client = clientOf(machine.awsUrl);
});
// The end of an advance lets the clock flow again.
beforeEach(() => void machine.clock.freeze());
afterEach(() => machine.faults.clear());
afterAll(() => machine.stop());

async function open(data: string): Promise<OneMachine> {
  return startOneMachine({
    templatePath: template,
    folder: path.join(folder, data),
    verifyWebhook: () => Promise.resolve({ verified: false, detail: '' }),
  });
}

type Retries = 'TimeOuts' | 'TaskFailed' | 'RouteEnded';

async function start(id: string, does: string, retries: Retries = 'TimeOuts'): Promise<void> {
  const input = JSON.stringify({ id, does, retries });
  await client.send(new StartExecutionCommand({ stateMachineArn, name: id, input }));
}

interface Attempt {
  readonly at: number;
  readonly token: string;
}

async function attemptsOf(id: string, awsUrl: string = machine.awsUrl): Promise<Attempt[]> {
  const { Items = [] } = await new DynamoDBClient(settings(awsUrl)).send(
    new QueryCommand({
      TableName: 'Table',
      KeyConditionExpression: 'pk = :pk',
      ExpressionAttributeValues: { ':pk': { S: id } },
    }),
  );
  return Items.map(({ sk }) => {
    const [at = '', token = ''] = (sk?.S ?? '').split(' ');
    return { at: Number(at), token };
  });
}

/** The nth attempt, once it has begun. */
async function attempt(id: string, number = 1): Promise<Attempt> {
  await expect.poll(async () => attemptsOf(id)).toHaveLength(number);
  const found = (await attemptsOf(id)).at(-1);
  if (!found) throw new Error('no attempt');
  return found;
}

/** Starts an execution whose task waits. Returns the token, after the function has ended. */
async function startWaiting(id: string, retries: Retries = 'TimeOuts'): Promise<string> {
  await start(id, 'waits', retries);
  const { token } = await attempt(id);
  await machine.advance(1);
  return token;
}

const stateOf = async (id: string): Promise<{ status: string | undefined; output: unknown }> => {
  const { status, output } = await client.send(new DescribeExecutionCommand({ executionArn: arnOf(id) }));
  return { status, output: output === undefined ? undefined : JSON.parse(output) };
};
const succeeded = async (id: string, output: unknown): Promise<void> =>
  expect.poll(async () => stateOf(id)).toEqual({ status: 'SUCCEEDED', output });
const succeed = async (taskToken: string, output = '{"done":true}', by = client): Promise<unknown> =>
  by.send(new SendTaskSuccessCommand({ taskToken, output }));
const fail = async (taskToken: string, error?: string, cause?: string): Promise<unknown> =>
  client.send(new SendTaskFailureCommand({ taskToken, error, cause }));
const beat = async (taskToken: string): Promise<unknown> =>
  client.send(new SendTaskHeartbeatCommand({ taskToken }));
const refusedAs = async (call: Promise<unknown>, name: string): Promise<void> =>
  expect(call).rejects.toMatchObject({ name });
const timedOut = { Error: 'States.Timeout', Cause: expect.any(String) as string };

describe('the end of a task that waits for its token', () => {
  it('The output of SendTaskSuccess is the result of the task, and the answer of the function is not', async () => {
    const token = await startWaiting('succeeds');
    expect((await stateOf('succeeds')).status).toBe('RUNNING');
    await succeed(token);
    await succeeded('succeeds', { done: true });
  });

  it('A second success, a failure and a heartbeat after the end are refused as TaskTimedOut', async () => {
    const token = await startWaiting('twice');
    await succeed(token);
    await expect(succeed(token)).rejects.toMatchObject({
      name: 'TaskTimedOut',
      message: expect.stringContaining('Provided task does not exist anymore') as string,
    });
    await refusedAs(fail(token, 'RouteEnded'), 'TaskTimedOut');
    await refusedAs(beat(token), 'TaskTimedOut');
  });

  it('A success during the invocation is kept, and ends the task when the invocation has ended', async () => {
    await start('early', 'ends early');
    const { token } = await attempt('early');
    // The function has ended its task when a heartbeat finds the task closed.
    await expect
      .poll(async () => beat(token).catch((error: unknown) => (error as Error).name))
      .toBe('TaskTimedOut');
    await refusedAs(succeed(token), 'TaskTimedOut');
    expect((await stateOf('early')).status).toBe('RUNNING');
    await succeeded('early', { early: true });
  });

  it('An error of the function fails the task at once, and closes its token', async () => {
    await start('broken', 'throws');
    await succeeded('broken', { Error: 'Broken', Cause: expect.stringContaining('why') as string });
    const { token } = await attempt('broken');
    await refusedAs(succeed(token), 'TaskTimedOut');
  });

  it('SendTaskFailure gives the task its error and cause, which retriers match by name', async () => {
    const first = await startWaiting('route-ends', 'RouteEnded');
    await fail(first, 'RouteEnded', 'because');
    await machine.advance(1);
    const { token } = await attempt('route-ends', 2);
    expect(token).not.toBe(first);
    await fail(token, 'RouteEnded', 'again');
    await succeeded('route-ends', { Error: 'RouteEnded', Cause: 'again' });
  });

  it('States.TaskFailed matches an error of SendTaskFailure', async () => {
    await fail(await startWaiting('fails', 'TaskFailed'), 'AnyName');
    await machine.advance(1);
    await succeed((await attempt('fails', 2)).token);
    await succeeded('fails', { done: true });
  });

  it('The end of an execution closes the token of its task, which is tried no more', async () => {
    const token = await startWaiting('stopped');
    await client.send(new StopExecutionCommand({ executionArn: arnOf('stopped') }));
    await refusedAs(succeed(token), 'TaskTimedOut');
    expect((await stateOf('stopped')).status).toBe('ABORTED');
    await machine.advance(130);
    expect(await attemptsOf('stopped')).toHaveLength(1);
  });
});

describe('the time of a task that waits for its token', () => {
  it('A lost heartbeat is States.Timeout, 60 s after the start of the task; the retry has a token of its own', async () => {
    await start('silent', 'waits');
    const { token: first } = await attempt('silent');
    await machine.advance(59);
    expect(await attemptsOf('silent')).toHaveLength(1);
    await machine.advance(2);
    const [one, two] = await attemptsOf('silent');
    expect((two?.at ?? 0) - (one?.at ?? 0)).toBe(61_000);
    expect(two?.token).not.toBe(first);
    await refusedAs(succeed(first), 'TaskTimedOut');
    await machine.advance(61);
    await succeeded('silent', timedOut);
    await refusedAs(succeed(two?.token ?? ''), 'TaskTimedOut');
  });

  it('States.TaskFailed does not match a lost heartbeat', async () => {
    await startWaiting('unmatched', 'TaskFailed');
    await machine.advance(60);
    await succeeded('unmatched', timedOut);
    expect(await attemptsOf('unmatched')).toHaveLength(1);
  });

  it('A heartbeat starts the time again, and TimeoutSeconds limits the whole attempt', async () => {
    const token = await startWaiting('beats', 'TaskFailed');
    for (let at = 1; at < 145; at += 48) {
      await beat(token);
      await machine.advance(48);
    }
    expect((await stateOf('beats')).status).toBe('RUNNING');
    await beat(token);
    await machine.advance(6);
    await succeeded('beats', timedOut);
    await refusedAs(beat(token), 'TaskTimedOut');
  });
});

describe('a call with a token', () => {
  const tokenFor = (arn: string): string =>
    Buffer.from(JSON.stringify([arn, 'x']).padEnd(450)).toString('base64');

  it('A text that is no token is refused as InvalidToken, and a token of no execution as TaskDoesNotExist', async () => {
    await refusedAs(succeed('nonsense'), 'InvalidToken');
    await refusedAs(fail('nonsense', 'X'), 'InvalidToken');
    await refusedAs(beat('nonsense'), 'InvalidToken');
    await refusedAs(succeed(tokenFor(arnOf('nobody'))), 'TaskDoesNotExist');
  });

  it('An output that is not JSON, and one of more than 262,144 bytes, are refused as InvalidOutput', async () => {
    const token = await startWaiting('outputs');
    const ofBytes = (count: number): string => JSON.stringify('é'.repeat((count - 2) / 2));
    await refusedAs(succeed(token, '{'), 'InvalidOutput');
    await refusedAs(succeed(token, ofBytes(262_146)), 'InvalidOutput');
    await succeed(token, ofBytes(262_144));
  });

  it('An error of more than 256 characters, and a cause of more than 32,768, are refused', async () => {
    const token = await startWaiting('long-words', 'RouteEnded');
    await refusedAs(fail(token, 'e'.repeat(257)), 'ValidationException');
    await refusedAs(fail(token, 'e', 'c'.repeat(32_769)), 'ValidationException');
    await fail(token, 'e'.repeat(256), 'c'.repeat(32_768));
    await succeeded('long-words', { Error: 'e'.repeat(256), Cause: 'c'.repeat(32_768) });
  });

  it('A token of more than 2,048 characters is refused', async () => {
    await refusedAs(succeed('A'.repeat(2_049)), 'ValidationException');
  });

  it('A success whose answer is lost takes effect, and the repeat of the SDK is refused as TaskTimedOut', async () => {
    const token = await startWaiting('lost-answer');
    machine.faults.set({ call: 'states:SendTaskSuccess', error: 'Timeout', when: 'after' });
    await refusedAs(succeed(token, '{"done":true}', clientOf(machine.awsUrl, 2)), 'TaskTimedOut');
    await succeeded('lost-answer', { done: true });
  });
});

describe('a service after kill -9', () => {
  it('It takes over its folder and its clock, and an open execution begins again with a new token, which ends it', async () => {
    const data = path.join(folder, 'killed');
    const childModule = path.join(import.meta.dirname, 'machine-child.ts');
    const child = spawn(process.execPath, [childModule, template, data], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await firstLineOf(child.stdout);
    const { awsUrl = '', localUrl = '' } = readServiceRecord(data) ?? {};
    const twoHoursAhead = Date.now() + 7_200_000;
    await fetch(`${localUrl}/clock`, { method: 'POST', body: '{"advance_seconds":7200}' });
    const input = JSON.stringify({ id: 'killed', does: 'waits', retries: 'TimeOuts' });
    await clientOf(awsUrl).send(new StartExecutionCommand({ stateMachineArn, name: 'killed', input }));
    await expect.poll(async () => attemptsOf('killed', awsUrl)).toHaveLength(1);
    const exit = once(child, 'exit');
    child.kill('SIGKILL');
    await exit;

    const after = await open('killed');
    expect(after.clock.now()).toBeGreaterThan(twoHoursAhead);
    await expect.poll(async () => attemptsOf('killed', after.awsUrl)).toHaveLength(2);
    const [old, fresh] = await attemptsOf('killed', after.awsUrl);
    const again = clientOf(after.awsUrl);
    await refusedAs(succeed(old?.token ?? '', '{}', again), 'TaskTimedOut');
    await succeed(fresh?.token ?? '', '{"done":"again"}', again);
    await expect
      .poll(async () => again.send(new DescribeExecutionCommand({ executionArn: arnOf('killed') })))
      .toMatchObject({ status: 'SUCCEEDED', output: '{"done":"again"}' });
    await after.stop();
  });
});

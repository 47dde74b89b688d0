import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { startOneMachine } from '../../local/one-machine.ts';
import type { OneMachine } from '../../local/one-machine.ts';
import { readServiceRecord } from '../../local/service-record.ts';
import { firstLineOf, temporaryFolder, writeStack } from './machine-fixture.ts';

const childModule = path.join(import.meta.dirname, 'machine-child.ts');

interface Child {
  readonly process: ChildProcess;
  readonly origin: string;
}

async function startChild(template: string, folder: string): Promise<Child> {
  const child = spawn(process.execPath, [childModule, template, folder], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const line = await firstLineOf(child.stdout);
  const { apiUrl } = z.object({ apiUrl: z.string() }).parse(JSON.parse(line));
  return { process: child, origin: new URL(apiUrl).origin };
}

async function kill({ process: child }: Child): Promise<void> {
  const exit = once(child, 'exit');
  child.kill('SIGKILL');
  await exit;
}

const post = (origin: string, where: string, body: unknown): Promise<Response> =>
  fetch(`${origin}${where}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

/** The number of times that the task has begun, read from its table. */
async function countNotes(data: string): Promise<number> {
  const awsUrl = readServiceRecord(data)?.awsUrl ?? '';
  const response = await fetch(awsUrl, {
    method: 'POST',
    headers: {
      'x-amz-target': 'DynamoDB_20120810.Query',
      'content-type': 'application/x-amz-json-1.0',
      authorization:
        'AWS4-HMAC-SHA256 Credential=operator/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0',
    },
    body: JSON.stringify({
      TableName: 'Table',
      KeyConditionExpression: 'pk = :pk',
      ExpressionAttributeValues: { ':pk': { S: 'work' } },
    }),
  });
  return z.object({ Count: z.number() }).parse(await response.json()).Count;
}

describe('a service after kill -9', () => {
  const { folder, remove } = temporaryFolder();
  let template: string;
  beforeAll(() => {
    template = writeStack(folder, {
      functions: {
        Start: {
          environment: { MACHINE: { Ref: 'Machine' } },
          code: `
          await startExecution('one');
          return { statusCode: 202, body: '' };`,
        },
        // The function leaves a note at each start, and hangs at its first start.
        Work: {
          code: `
          await putNote('work', Date.now());
          const isFirstStart = (await notesOf('work')).length === 1;
          if (isFirstStart) await new Promise((resolve) => setTimeout(resolve, 15000));`,
        },
      },
      routes: { 'POST /start': 'Start' },
      machine: { StartAt: 'Work', States: { Work: { Type: 'Task', Resource: '${Work}', End: true } } },
    });
  });
  afterAll(remove);

  it('A service after kill -9 takes over its folder, has every answered execution, and does not set the clock back', async () => {
    const data = path.join(folder, 'data');
    const first = await startChild(template, data);
    await post(first.origin, '/_local/clock', { advance_seconds: 7_200 });
    expect((await post(first.origin, '/start', {})).status).toBe(202);
    const state = await fetch(`${first.origin}/_local/state`);
    const { now } = z.object({ now: z.string() }).parse(await state.json());
    // The task hangs, so this advance still waits for the task when the process is killed.
    const advancing = post(first.origin, '/_local/clock', { advance_seconds: 60 }).catch(() => undefined);
    await expect.poll(() => countNotes(data)).toBe(1);
    await kill(first);
    await advancing;

    const statuses: string[] = [];
    const machine: OneMachine = await startOneMachine({
      templatePath: template,
      folder: data,
      verifyWebhook: () => Promise.resolve({ verified: false, detail: '' }),
      onEvent: (event) => {
        if (event.event === 'execution') statuses.push(`${event.execution} ${event.status}`);
      },
    });
    expect(machine.clock.now()).toBeGreaterThanOrEqual(Date.parse(now));
    await expect.poll(() => statuses).toEqual(['one SUCCEEDED']);
    const { Items } = await machine.aws({
      service: 'dynamodb',
      operation: 'Query',
      caller: 'operator',
      input: {
        TableName: 'Table',
        KeyConditionExpression: 'pk = :pk',
        ExpressionAttributeValues: { ':pk': { S: 'work' } },
      },
    });
    expect(Items).toHaveLength(2);
    await machine.stop();
  });
});

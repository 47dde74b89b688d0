import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import {
  type MachineEvent,
  type OneMachine,
  type OneMachineOptions,
  startOneMachine,
} from '../../local/one-machine.ts';
import { type FixtureStack, newFolder, writeStack } from './machine-fixture.ts';

it('A start refuses the folder of an earlier release with one sentence, and writes nothing to it', async () => {
  const folder = newFolder();
  const tables = path.join(folder, 'tables');
  mkdirSync(tables);
  writeFileSync(path.join(tables, 'CURRENT'), 'MANIFEST-000002\n');
  const start = startOneMachine({
    templatePath: path.join(folder, 'no-template.json'),
    folder,
    verifyWebhook: () => Promise.resolve({ verified: false, detail: '' }),
  });
  await expect(start).rejects.toMatchObject({
    name: 'FolderRefused',
    code: 'FOLDER_UNUSABLE',
    message: `The tables in ${tables} are of an earlier release, which kept them in LevelDB: start on a new folder (--data), or go on with the release that wrote them.`,
  });
  expect([readdirSync(folder), readdirSync(tables)]).toEqual([['tables'], ['CURRENT']]);
});

/**
 * A stack that renders and delivers. Every delivery attempt writes its virtual instant into the table. An id
 * that starts with `crash`, `slow` or `hangs` makes the render behave so.
 */
const stack: FixtureStack = {
  functions: {
    Start: {
      environment: {
        MACHINE: { Ref: 'Machine' },
        RULES: 'public',
        BASE: { 'Fn::Join': ['', ['https://', { 'Fn::GetAtt': ['Cdn', 'DomainName'] }]] },
      },
      code: `
      const body = JSON.parse(event.body);
      await startExecution(body.id);
      const answer = { id: body.id, rules: process.env.RULES, base: process.env.BASE };
      const headers = { 'content-type': 'application/json' };
      return { statusCode: 202, headers, body: JSON.stringify(answer) };`,
    },
    Render: {
      code: `
      if (event.id.startsWith('crash')) process.exit(1);
      await new Promise((resolve) => setTimeout(resolve, event.id.startsWith('slow') ? 1500 : 0));
      if (event.id.startsWith('hangs')) {
        await putNote(event.id + ' begun', Math.random());
        const isFirstStart = (await notesOf(event.id + ' begun')).length === 1;
        if (isFirstStart) await new Promise(() => setInterval(() => 0, 1000));
      }
      return event;`,
    },
    Deliver: {
      code: `
      await putNote(event.id, Date.now());
      return {};`,
    },
    Reconcile: {
      code: `
      const name = event.source === 'aws.states' ? event.detail.name + ' ' + event.detail.status : 'tick';
      await putNote(name, Date.now());`,
    },
  },
  routes: { 'POST /start': 'Start' },
  everyMinute: 'Reconcile',
  onFailure: 'Reconcile',
  machine: {
    StartAt: 'Render',
    States: {
      Render: {
        Type: 'Task',
        Resource: '${Render}',
        Catch: [{ ErrorEquals: ['Runtime.ExitError'], ResultPath: '$.failure', Next: 'Died' }],
        Next: 'Deliver',
      },
      Died: { Type: 'Fail', Error: 'RenderDied', Cause: 'render died' },
      Deliver: { Type: 'Task', Resource: '${Deliver}', End: true },
    },
  },
};

const notesSchema = z.array(z.object({ sk: z.object({ S: z.string() }) }));

describe('one machine', () => {
  const folder = newFolder(afterAll);
  const events: MachineEvent[] = [];
  let machine: OneMachine;
  const options = (data: string): OneMachineOptions => ({
    templatePath: path.join(folder, 'Fixture.template.json'),
    folder: path.join(folder, data),
    environment: { RULES: 'loopback-too', UNDECLARED: 'x' },
    verifyWebhook: () => Promise.resolve({ verified: true, detail: 'as signed' }),
    onEvent: (event) => events.push(event),
  });
  const origin = (): string => new URL(machine.apiUrl).origin;
  const post = (id: string, to = machine): Promise<Response> =>
    fetch(`${new URL(to.apiUrl).origin}/start`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ id }),
    });
  async function instants(pk: string, of = machine): Promise<number[]> {
    const { Items } = await of.aws({
      service: 'dynamodb',
      operation: 'Query',
      caller: 'operator',
      input: {
        TableName: 'Table',
        KeyConditionExpression: 'pk = :pk',
        ExpressionAttributeValues: { ':pk': { S: pk } },
      },
    });
    return notesSchema.parse(Items).map(({ sk }) => Number(sk.S));
  }
  const endsOf = (name: string): MachineEvent[] =>
    events.filter((one) => one.event === 'execution' && one.execution === name);
  const closed = (name: string): Promise<unknown> => expect.poll(() => endsOf(name)).toHaveLength(1);
  beforeAll(async () => {
    writeStack(folder, stack);
    machine = await startOneMachine(options('data'));
  });
  afterAll(() => machine.stop());
  it('One machine serves a request with function, execution and table, and overrides declared variables', async () => {
    const response = await post('plain');
    expect(response.status).toBe(202);
    expect(await response.json()).toEqual({
      id: 'plain',
      rules: 'loopback-too',
      base: `${origin()}/_results`,
    });
    await closed('plain');
    const executionArn = 'arn:aws:states:us-east-1:000000000000:execution:Machine:plain';
    expect(
      await machine.aws({
        service: 'states',
        operation: 'DescribeExecution',
        caller: 'operator',
        input: { executionArn },
      }),
    ).toMatchObject({ status: 'SUCCEEDED', name: 'plain', input: '{"id":"plain"}' });
    expect(await instants('plain')).toHaveLength(1);
  });

  it('One machine keeps other executions running after a crash, and sends the failure to its event rule', async () => {
    const others = ['slow-a', 'slow-b', 'slow-c'];
    await Promise.all([...others, 'crash-one'].map((id) => post(id)));
    await Promise.all([...others, 'crash-one'].map(closed));
    expect(endsOf('crash-one')).toMatchObject([{ status: 'FAILED', error: 'RenderDied' }]);
    for (const name of others) expect(endsOf(name)).toMatchObject([{ status: 'SUCCEEDED' }]);
    await expect.poll(() => instants('crash-one FAILED')).toHaveLength(1);
  });

  it('One machine writes its addresses to a file for its owner only, and refuses a second service', async () => {
    const file = path.join(folder, 'data', 'service.json');
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({
      pid: process.pid,
      apiUrl: machine.apiUrl,
      localUrl: machine.localUrl,
      awsUrl: machine.awsUrl,
      outputs: { ApiUrl: origin() },
    });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    await expect(startOneMachine(options('data'))).rejects.toThrow(/already runs on/);
    expect(existsSync(file)).toBe(true);
  });

  it('One machine refuses a port in use with one sentence, and leaves no lock behind', async () => {
    const port = Number(new URL(machine.apiUrl).port);
    await expect(startOneMachine({ ...options('other'), port })).rejects.toMatchObject({
      code: 'EADDRINUSE',
      message: `Port ${port} is already in use.`,
    });
    expect(existsSync(path.join(folder, 'other', 'service.json'))).toBe(false);
  });

  it('An advance does what falls due at the fake of Stripe, whose webhooks come to this machine', async () => {
    const send = async (to: string, body: URLSearchParams | string): Promise<string> => {
      const headers = { authorization: 'Bearer rk_test_fixture', 'stripe-version': '2026-10-28.endive' };
      const answer = await fetch(`${origin()}/_local/${to}`, { method: 'POST', headers, body });
      return z.looseObject({ id: z.string().default('') }).parse(await answer.json()).id;
    };
    const webhook = { action: 'webhook', url: `${origin()}/start`, secrets: ['whsec_fixture'] };
    await send('payments', JSON.stringify(webhook));
    const session = {
      mode: 'payment',
      success_url: 'https://portal.test/',
      'line_items[0][quantity]': '1',
      'line_items[0][price_data][currency]': 'usd',
      'line_items[0][price_data][unit_amount]': '500',
      'line_items[0][price_data][product_data][name]': 'Credit',
    };
    await send('stripe/v1/checkout/sessions', new URLSearchParams(session));
    const day = 86_400;
    const begin = machine.clock.now();
    await machine.advance(day + 60);
    const expired = events.find((one) => one.event === 'execution' && one.execution.startsWith('evt_'));
    const instant = (await instants(expired?.event === 'execution' ? expired.execution : '')).at(0) ?? 0;
    expect(instant - begin).toBeGreaterThan((day - 60) * 1_000);
    expect(instant).toBeLessThan(machine.clock.now() - 30_000);
  });

  it('One machine stops at once, and runs only the open executions again at the next start', async () => {
    const data = 'again';
    const foreign = path.join(folder, data, 'mine.txt');
    let other = await startOneMachine(options(data));
    writeFileSync(foreign, 'keep me');
    await post('plain-resumed', other);
    await other.advance(120);
    const offset = other.clock.offset();
    await post('hangs-open', other);
    await expect.poll(() => instants('hangs-open begun', other)).toHaveLength(1);
    // The render hangs for good at its first start. If stop() waited for the render, it would wait for ever.
    await other.stop();
    expect(endsOf('hangs-open')).toEqual([]);
    other = await startOneMachine(options(data));
    expect(other.clock.offset()).toBeGreaterThanOrEqual(offset);
    await closed('hangs-open');
    expect(endsOf('plain-resumed')).toHaveLength(1);
    await other.stop();
    expect(readFileSync(foreign, 'utf8')).toBe('keep me');
  });
});

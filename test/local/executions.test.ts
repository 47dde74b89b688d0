import { appendFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { executionEvent, matchesPattern } from '../../local/event-bus.ts';
import { openExecutions } from '../../local/step-functions/executions.ts';
import type { Execution, Executions } from '../../local/step-functions/executions.ts';
import { createStatesService } from '../../local/step-functions/states-service.ts';
import { newFolder } from './machine-fixture.ts';

const machine = 'arn:aws:states:us-east-1:000000000000:stateMachine:M';
const arnOf = (name: string): string => `arn:aws:states:us-east-1:000000000000:execution:M:${name}`;
const listSchema = z.object({ executions: z.array(z.object({ name: z.string() })) });
const dayMillis = 86_400_000;

describe('executions', () => {
  const folder = newFolder(afterAll);
  let file = '';
  let now = 1_000;
  let started: string[] = [];
  let aborted: string[] = [];
  let changed: Execution[] = [];
  let executions: Executions;
  let call: (operation: string, input: Record<string, unknown>) => Promise<Record<string, unknown>>;
  const open = (): void => {
    executions = openExecutions({
      file,
      now: () => now,
      onStatusChange: (one) => changed.push(one),
      engine: {
        start: (_machine, { name }, input) => started.push(`${name} ${JSON.stringify(input)}`),
        abort: (arn) => aborted.push(arn),
      },
    });
    const service = createStatesService(executions, new Map([[machine, '{}']]), () => Promise.resolve(false));
    call = (operation, input) => service({ service: 'states', operation, caller: 'operator', input });
  };
  const start = (name: string, input = '{"id":1}'): Promise<Record<string, unknown>> =>
    call('StartExecution', { stateMachineArn: machine, name, input });
  const statusOf = async (name: string): Promise<unknown> =>
    (await call('DescribeExecution', { executionArn: arnOf(name) }))['status'];
  beforeEach(({ task }) => {
    file = path.join(folder, task.id, 'executions.jsonl');
    [now, started, aborted, changed] = [1_000, [], [], []];
    open();
  });

  it('An execution starts once for each name, and a repeated start gets the first answer', async () => {
    const first = await start('a');
    expect(first).toEqual({ executionArn: arnOf('a'), startDate: new Date(1_000) });
    now += 5;
    expect(await start('a')).toEqual(first);
    await expect(start('a', '{"id":2}')).rejects.toMatchObject({ code: 'ExecutionAlreadyExists' });
    executions.onClosed(arnOf('a'), { status: 'SUCCEEDED', output: null });
    await expect(start('a')).rejects.toMatchObject({ code: 'ExecutionAlreadyExists' });
    expect(started).toEqual(['a {"id":1}']);
  });

  it('An execution is refused with the codes of Step Functions', async () => {
    await expect(
      call('StartExecution', { stateMachineArn: `${machine}x`, input: '{}' }),
    ).rejects.toMatchObject({ code: 'StateMachineDoesNotExist' });
    await expect(start('a b')).rejects.toMatchObject({ code: 'InvalidName' });
    await expect(start('a', '{')).rejects.toMatchObject({ code: 'InvalidExecutionInput' });
    await expect(statusOf('nobody')).rejects.toMatchObject({ code: 'ExecutionDoesNotExist' });
    await expect(call('StopExecution', { executionArn: arnOf('nobody') })).rejects.toMatchObject({
      code: 'ExecutionDoesNotExist',
    });
    await expect(call('GetActivityTask', {})).rejects.toMatchObject({ code: 'UnknownOperationException' });
  });

  it('An execution is on disk before the answer, and runs again from its start after a crash', async () => {
    await start('open');
    await start('done');
    executions.onHistory(arnOf('done'), { type: 'StateEntered', state: 'S', at: 1 });
    executions.onClosed(arnOf('done'), { status: 'FAILED', error: 'E', cause: 'C' });
    // The process is killed here, in the middle of writing another line.
    appendFileSync(file, '{"kind":"started","exec');
    started = [];
    open();
    expect(executions.resume()).toBe(1);
    expect(started).toEqual(['open {"id":1}']);
    expect(executions.find(arnOf('done'))).toMatchObject({
      status: 'FAILED',
      error: 'E',
      cause: 'C',
      history: [{ type: 'StateEntered', state: 'S', at: 1 }],
    });
    await start('after');
    open();
    expect(executions.list().map(({ name }) => name)).toEqual(['open', 'done', 'after']);
  });

  it('The name of a closed execution stays in use for 90 days', async () => {
    await start('old');
    await start('open');
    executions.onClosed(arnOf('old'), { status: 'SUCCEEDED', output: {} });
    now += 89 * dayMillis;
    open();
    await expect(start('old')).rejects.toMatchObject({ code: 'ExecutionAlreadyExists' });
    now += 2 * dayMillis;
    open();
    expect(executions.list().map(({ name }) => name)).toEqual(['open']);
  });

  it('An execution stays ABORTED after a stop, also when a task answers later', async () => {
    await start('a');
    now += 500;
    expect(await call('StopExecution', { executionArn: arnOf('a') })).toEqual({ stopDate: new Date(1_500) });
    executions.onClosed(arnOf('a'), { status: 'SUCCEEDED', output: {} });
    expect(await statusOf('a')).toBe('ABORTED');
    expect(aborted).toEqual([arnOf('a')]);
    expect(changed).toHaveLength(1);
    expect(await call('StopExecution', { executionArn: arnOf('a') })).toEqual({ stopDate: new Date(1_500) });
  });

  it('Executions are listed by status, the newest first', async () => {
    await start('a');
    now += 1;
    await start('b');
    now += 1;
    await start('c');
    executions.onClosed(arnOf('b'), { status: 'SUCCEEDED', output: {} });
    const names = async (statusFilter?: string): Promise<string[]> => {
      const filter = statusFilter === undefined ? {} : { statusFilter };
      const answer = await call('ListExecutions', { stateMachineArn: machine, ...filter });
      return listSchema.parse(answer).executions.map(({ name }) => name);
    };
    expect(await names()).toEqual(['c', 'b', 'a']);
    expect(await names('RUNNING')).toEqual(['c', 'a']);
  });

  it('An execution sends an event in the form of EventBridge when it closes', async () => {
    await start('a');
    executions.onClosed(arnOf('a'), { status: 'TIMED_OUT' });
    const [execution] = changed;
    if (execution === undefined) throw new Error('nothing was told');
    const event = executionEvent(execution);
    expect(event).toMatchObject({
      source: 'aws.states',
      'detail-type': 'Step Functions Execution Status Change',
      time: '1970-01-01T00:00:01Z',
      resources: [arnOf('a')],
      detail: {
        executionArn: arnOf('a'),
        stateMachineArn: machine,
        name: 'a',
        status: 'TIMED_OUT',
        input: '{"id":1}',
        startDate: 1_000,
        stopDate: 1_000,
      },
    });
    const pattern = {
      source: ['aws.states'],
      'detail-type': ['Step Functions Execution Status Change'],
      detail: { status: ['FAILED', 'TIMED_OUT'], stateMachineArn: [machine] },
    };
    expect(matchesPattern(pattern, event)).toBe(true);
    expect(matchesPattern({ ...pattern, detail: { status: ['FAILED'] } }, event)).toBe(false);
    expect(matchesPattern({ ...pattern, detail: { nothing: { at: ['all'] } } }, event)).toBe(false);
    expect(
      matchesPattern(
        { source: [{ prefix: 'aws.' }], detail: { error: [{ exists: false }] } },
        { ...event, detail: {} },
      ),
    ).toBe(true);
    expect(() => matchesPattern({ source: [{ 'anything-but': 'x' }] }, event)).toThrow(
      /does not run locally/,
    );
  });
});

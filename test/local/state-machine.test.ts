import * as FakeTimers from '@sinonjs/fake-timers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { InvocationResult } from '../../local/lambda/messages.ts';
import { createStateMachine } from '../../local/step-functions/state-machine.ts';
import type { HistoryEvent, Outcome } from '../../local/step-functions/state-machine.ts';
import { createTaskTokens } from '../../local/step-functions/task-tokens.ts';

const resource = 'arn:aws:lambda:us-east-1:000000000000:function:Work';
const invoke = 'arn:aws:states:::lambda:invoke';
const waiting = `${invoke}.waitForTaskToken`;
const asking = {
  Resource: waiting,
  Parameters: { FunctionName: resource, Payload: { 'token.$': '$$.Task.Token' } },
};
const fails = (errorType: string): InvocationResult => ({
  ok: false,
  error: { errorType, errorMessage: 'why' },
});
const { open: openTask } = createTaskTokens(() => 'one');
let clock: ReturnType<typeof FakeTimers.install>;
beforeEach(() => {
  clock = FakeTimers.install({ now: 0, toFake: ['setTimeout', 'clearTimeout', 'Date'] });
});
afterEach(() => {
  clock.uninstall();
});

interface Ran {
  readonly outcome: Outcome;
  /** The seconds at which the task was called. */
  readonly calls: number[];
  readonly inputs: unknown[];
  readonly history: HistoryEvent[];
}

/** Runs a machine of one Task, and a state Done after it, over an hour of virtual time. */
async function run(
  task: Record<string, unknown>,
  invoke: (call: number) => InvocationResult | Promise<InvocationResult>,
  input: unknown = { id: 'x' },
): Promise<Ran> {
  const calls: number[] = [];
  const inputs: unknown[] = [];
  const history: HistoryEvent[] = [];
  const definition = {
    StartAt: 'Work',
    States: { Work: { Type: 'Task', Resource: resource, Next: 'Done', ...task }, Done: { Type: 'Succeed' } },
  };
  const machine = createStateMachine(JSON.stringify(definition), {
    openTask,
    // The check takes a tenth of a second. The machines that wait are checked.
    validates: false,
    invokeTask: async (call) => {
      calls.push(clock.now / 1_000);
      inputs.push(call.input);
      return invoke(calls.length);
    },
    onEvent: (_execution, event) => history.push(event),
  });
  const { outcome } = machine.start({ name: 'one', arn: 'arn:one' }, input);
  await clock.tickAsync(3_600_000);
  return { outcome: await outcome, calls, inputs, history };
}

describe('a state machine', () => {
  it("A state machine waits 60, 120, 240 and 480 s between five attempts, then fails with Lambda's error", async () => {
    const { outcome, calls, history } = await run(
      {
        Retry: [
          { ErrorEquals: ['WebhookNotDelivered'], IntervalSeconds: 60, BackoffRate: 2, MaxAttempts: 4 },
        ],
      },
      () => fails('WebhookNotDelivered'),
    );
    expect(calls).toEqual([0, 60, 180, 420, 900]);
    expect(outcome).toEqual({
      status: 'FAILED',
      error: 'WebhookNotDelivered',
      cause: '{"errorType":"WebhookNotDelivered","errorMessage":"why"}',
    });
    expect(history.map(({ type, at }) => `${at / 1_000} ${type}`).slice(0, 4)).toEqual([
      '0 ExecutionStarted',
      '0 StateEntered',
      '0 StateFailed',
      '60 StateRetried',
    ]);
  });

  it('A state machine counts attempts for each retrier, and keeps to MaxDelaySeconds and full jitter', async () => {
    const retry = [
      { ErrorEquals: ['Busy'], IntervalSeconds: 10, BackoffRate: 10, MaxAttempts: 3, MaxDelaySeconds: 30 },
      {
        ErrorEquals: ['States.TaskFailed'],
        IntervalSeconds: 100,
        BackoffRate: 1,
        MaxAttempts: 1,
        JitterStrategy: 'FULL',
      },
    ];
    const { calls, outcome } = await run({ Retry: retry }, (call) =>
      call < 4 ? fails('Busy') : call === 4 ? fails('Other') : { ok: true, payload: {} },
    );
    expect(calls.slice(0, 4)).toEqual([0, 10, 40, 70]);
    expect(calls[4]).toBeGreaterThanOrEqual(70);
    expect(calls[4]).toBeLessThan(171);
    expect(outcome.status).toBe('SUCCEEDED');
  });

  it.each([
    ['$', { Error: 'Rejected', Cause: '{"errorType":"Rejected","errorMessage":"why"}' }],
    [undefined, { Error: 'Rejected', Cause: '{"errorType":"Rejected","errorMessage":"why"}' }],
    [
      '$.failure',
      { id: 'x', failure: { Error: 'Rejected', Cause: '{"errorType":"Rejected","errorMessage":"why"}' } },
    ],
    [null, { id: 'x' }],
  ])('A state machine puts a caught error at the ResultPath %s', async (ResultPath, output) => {
    const catcher = {
      ErrorEquals: ['States.ALL'],
      Next: 'Done',
      ...(ResultPath === undefined ? {} : { ResultPath }),
    };
    expect((await run({ Catch: [catcher] }, () => fails('Rejected'))).outcome).toEqual({
      status: 'SUCCEEDED',
      output,
    });
  });

  it('A state machine replaces the input with the result for the ResultPath $ and for none', async () => {
    const payload = { done: true };
    for (const path of [{}, { ResultPath: '$' }])
      expect((await run(path, () => ({ ok: true, payload }))).outcome).toEqual({
        status: 'SUCCEEDED',
        output: payload,
      });
  });

  it('A state machine ends a Task at its TimeoutSeconds, and lets a Task without them run for half an hour', async () => {
    const slow = (): Promise<InvocationResult> =>
      new Promise((resolve) => {
        setTimeout(() => resolve({ ok: true, payload: 1 }), 1_800_000);
      });
    expect((await run({}, slow)).outcome.status).toBe('SUCCEEDED');
    expect((await run({ TimeoutSeconds: 30 }, slow)).outcome).toMatchObject({
      status: 'FAILED',
      error: 'States.Timeout',
    });
  });

  it('A Task of lambda:invoke gives the function its Payload and has the answer under Payload', async () => {
    const { outcome, inputs } = await run(
      { Resource: invoke, Parameters: { FunctionName: resource, 'Payload.$': '$.inner' } },
      () => ({ ok: true, payload: { done: true } }),
      { inner: { id: 'x' } },
    );
    expect(inputs).toEqual([{ id: 'x' }]);
    expect(outcome).toEqual({
      status: 'SUCCEEDED',
      output: { ExecutedVersion: '$LATEST', Payload: { done: true }, StatusCode: 200 },
    });
  });

  it('A Task of lambda:invoke fails with the name of the error of its function', async () => {
    const { outcome } = await run({ Resource: invoke, Parameters: { FunctionName: resource } }, () =>
      fails('Rejected'),
    );
    expect(outcome).toMatchObject({ status: 'FAILED', error: 'Rejected' });
  });

  describe('with a Task that waits for its token', () => {
    const later = (seconds: number, result: InvocationResult): Promise<InvocationResult> =>
      new Promise((resolve) => {
        setTimeout(() => resolve(result), seconds * 1_000);
      });
    const timeOuts = { ErrorEquals: ['States.HeartbeatTimeout', 'States.Timeout'], IntervalSeconds: 1 };

    it('The heartbeat counts from the start of the task, so a long invocation without one is given up', async () => {
      const { calls, outcome } = await run(
        { ...asking, HeartbeatSeconds: 60, TimeoutSeconds: 900, Retry: [{ ...timeOuts, MaxAttempts: 1 }] },
        () => later(700, { ok: true, payload: {} }),
      );
      expect(calls).toEqual([0, 61]);
      expect(outcome).toMatchObject({ status: 'FAILED', error: 'States.Timeout' });
    });

    it('TimeoutSeconds ends an attempt whose invocation hangs, and an answer after that changes nothing', async () => {
      const { calls, outcome } = await run(
        { ...asking, TimeoutSeconds: 900, Retry: [{ ...timeOuts, MaxAttempts: 2 }] },
        (call) => (call === 1 ? later(1_000, { ok: true, payload: {} }) : fails('Rejected')),
      );
      expect(calls).toEqual([0, 901]);
      expect(outcome).toMatchObject({ status: 'FAILED', error: 'Rejected' });
    });
  });

  it('A state machine ends as ABORTED when it is aborted in the middle of a wait', async () => {
    const machine = createStateMachine(
      JSON.stringify({ StartAt: 'Rest', States: { Rest: { Type: 'Wait', Seconds: 60, End: true } } }),
      { openTask, invokeTask: () => Promise.resolve(fails('x')) },
    );
    const { outcome, abort } = machine.start({ name: 'one', arn: 'arn:one' }, {});
    await clock.tickAsync(1_000);
    abort();
    expect(await outcome).toEqual({ status: 'ABORTED' });
  });

  it("A state machine ends as TIMED_OUT at the machine's own TimeoutSeconds", async () => {
    const machine = createStateMachine(
      JSON.stringify({
        StartAt: 'Rest',
        TimeoutSeconds: 30,
        States: { Rest: { Type: 'Wait', Seconds: 60, End: true } },
      }),
      { openTask, invokeTask: () => Promise.resolve(fails('x')) },
    );
    const { outcome } = machine.start({ name: 'one', arn: 'arn:one' }, {});
    await clock.tickAsync(40_000);
    expect(await outcome).toEqual({ status: 'TIMED_OUT' });
  });

  it.each([
    [{ QueryLanguage: 'JSONata' }, /Work: JSONata does not run locally/],
    [
      { Resource: 'arn:aws:states:::dynamodb:getItem' },
      /Work: only Lambda ARNs, arn:aws:states:::lambda:invoke and .*waitForTaskToken run locally/,
    ],
    [{ HeartbeatSeconds: 5 }, /Work: a heartbeat without .*waitForTaskToken does not run locally/],
    [
      { Resource: waiting, Parameters: { FunctionName: resource, 'Payload.$': '$' } },
      /Work: nobody can end the Task, because its Parameters do not have \$\$\.Task\.Token/,
    ],
    [{ ...asking, HeartbeatSeconds: 5, TimeoutSeconds: 5 }, /Work: HeartbeatSeconds must be less than/],
    [{ ...asking, HeartbeatSecondsPath: '$.x' }, /Work: HeartbeatSecondsPath of .* does not run locally/],
    [{ ...asking, Resource: invoke }, /Work: \$\$\.Task\.Token does not run locally/],
    [
      { ...asking, ResultSelector: { 'token.$': '$$.Task.Token' } },
      /Work: \$\$\.Task\.Token does not run locally/,
    ],
    [
      { Resource: invoke, Parameters: { FunctionName: resource, InvocationType: 'Event' } },
      /Work: InvocationType of arn:aws:states:::lambda:invoke does not run locally/,
    ],
    [{ Resource: invoke, Parameters: { 'Payload.$': '$' } }, /Work: .* name no function/],
    [{ Resource: invoke }, /Parameters of Work is not an object/],
    [
      { Parameters: { 'attempt.$': '$$.State.RetryCount' } },
      /Work: \$\$\.State\.RetryCount does not run locally/,
    ],
    [{ Assign: { x: 1 } }, /Work: variables \(Assign\) do not run locally/],
    [{ Next: 'Nowhere' }, /invalid/],
  ])('A state machine is refused when it needs something that does not run locally: %j', (task, message) => {
    const definition = {
      StartAt: 'Work',
      States: {
        Work: { Type: 'Task', Resource: resource, Next: 'Done', ...task },
        Done: { Type: 'Succeed' },
      },
    };
    expect(() =>
      createStateMachine(JSON.stringify(definition), {
        openTask,
        invokeTask: () => Promise.resolve(fails('x')),
      }),
    ).toThrow(message);
  });
});

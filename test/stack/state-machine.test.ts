import aslValidator from 'asl-validator';
import { describe, expect, it } from 'vitest';
import { limitRanges, webhookAttemptMillis } from '../../service/contract/limits.ts';
import { renderers } from '../../service/creations/machines.ts';
import { webhookAttempts, webhookWaitsSeconds } from '../../service/webhooks/webhook.ts';
import { nameOf, resolved, resourcesOf } from './template.ts';

interface Retrier {
  readonly ErrorEquals: readonly string[];
  readonly IntervalSeconds: number;
  readonly BackoffRate: number;
  readonly MaxAttempts: number;
  readonly MaxDelaySeconds?: number;
  readonly JitterStrategy?: string;
}

interface State {
  readonly Type: string;
  readonly Comment?: string;
  readonly Resource?: string;
  readonly Parameters?: Readonly<Record<string, string>>;
  readonly TimeoutSeconds?: number;
  readonly Retry?: readonly Retrier[];
  readonly Catch?: readonly {
    readonly ErrorEquals: readonly string[];
    readonly ResultPath: string;
    readonly Next: string;
  }[];
  readonly Next?: string;
  readonly End?: boolean;
}

interface Machine {
  readonly StartAt: string;
  readonly TimeoutSeconds: number;
  readonly States: Readonly<Record<string, State>>;
}

const machine = resolved.stateMachines.find(({ id }) => nameOf(id) === 'CreationStateMachine');
const noticeMachine = resolved.stateMachines.find(({ id }) => nameOf(id) === 'NoticesStateMachine');
if (!machine || !noticeMachine) throw new Error('the template lacks a state machine');
const definition = JSON.parse(machine.definition) as Machine;
const tasks = Object.entries(definition.States).filter(([, state]) => state.Type === 'Task');
const stateNamed = (name: string): State => {
  const state = definition.States[name];
  if (!state) throw new Error(`no state ${name}`);
  return state;
};
const functionTimeout = (name: string): number =>
  resolved.functions.find(({ id }) => nameOf(id) === name)?.timeoutSeconds ?? NaN;
const retrierOf = (state: string, error: string): Retrier | undefined =>
  stateNamed(state).Retry?.find(({ ErrorEquals }) => ErrorEquals.includes(error));

/**
 * Lambda's own faults: https://docs.aws.amazon.com/step-functions/latest/dg/bp-lambda-serviceexception.html
 */
const throttle = 'Lambda.TooManyRequestsException';
const serviceFaults = [
  'Lambda.ServiceException',
  'Lambda.AWSLambdaException',
  'Lambda.SdkClientException',
  'Lambda.ClientExecutionTimeoutException',
];
/**
 * Names under which Lambda reports that a function's process or its sandbox died, whatever the function was
 * doing.
 */
const deaths = [
  'Lambda.Unknown',
  'Sandbox.Timedout',
  'Sandbox.Timeout',
  'Sandbox.Failure',
  'Runtime.ExitError',
  'Runtime.OutOfMemory',
  'Runtime.Unknown',
  'Runtime.UnhandledPromiseRejection',
];

/** A lost heartbeat is States.Timeout in the history. A Retry or Catch must name both. */
const timeOuts = ['States.Timeout', 'States.HeartbeatTimeout'];

/** Seconds of each wait, as Step Functions computes them without jitter. */
function waits({ IntervalSeconds, BackoffRate, MaxAttempts, MaxDelaySeconds = Infinity }: Retrier): number[] {
  return Array.from({ length: MaxAttempts }, (_, index) =>
    Math.min(MaxDelaySeconds, IntervalSeconds * BackoffRate ** index),
  );
}

describe('the state machine', () => {
  it('The state machine is valid Amazon States Language', () => {
    const { isValid, errors } = aslValidator(definition);
    expect(errors).toEqual([]);
    expect(isValid).toBe(true);
  });

  it('All state machines are standard ones that log errors without their data', () => {
    const machines = resourcesOf('AWS::StepFunctions::StateMachine');
    expect(machines).toHaveLength(3);
    for (const [, { Properties }] of machines) {
      expect(Properties).toMatchObject({
        LoggingConfiguration: { IncludeExecutionData: false, Level: 'ERROR' },
      });
      expect(Properties).not.toHaveProperty('StateMachineType', 'EXPRESS');
    }
  });

  it('A success is one transition, a webhook that was not delivered at once two, and a refund three', () => {
    expect(definition.StartAt).toBe('RenderImage');
    expect(stateNamed('RenderImage').End).toBe(true);
    expect(stateNamed('RenderImage').Catch?.[0]).toEqual({
      ErrorEquals: ['WebhookNotDelivered'],
      ResultPath: '$.failure',
      Next: 'DeliverWebhook',
    });
    expect(retrierOf('RenderImage', 'WebhookNotDelivered')).toBeUndefined();
    expect(stateNamed('RenderImage').Catch?.at(-1)).toEqual({
      ErrorEquals: ['States.ALL'],
      ResultPath: '$.failure',
      Next: 'RefundCharge',
    });
    expect(stateNamed('RefundCharge').Next).toBe('DeliverWebhook');
    expect(stateNamed('DeliverWebhook').End).toBe(true);
  });

  it('The state machine has three tasks, each named after its function', () => {
    expect(tasks.map(([name]) => name)).toEqual(['RenderImage', 'RefundCharge', 'DeliverWebhook']);
    for (const [name, { Resource }] of tasks.slice(1))
      expect(nameOf(Resource?.replace(/^.*:function:(\w+):1$/, '$1') ?? '')).toBe(name);
    expect(stateNamed('RenderImage').Resource).toBe('arn:aws:states:::lambda:invoke');
  });

  it('The renderers stand in the order of their indexes, and the first one is taken for an input without an index', () => {
    const { 'FunctionName.$': chosen = '', ...others } = stateNamed('RenderImage').Parameters ?? {};
    const names = [...chosen.matchAll(/:function:(\w+)/g)].map(([, id]) => nameOf(id ?? ''));
    const functionOf = { any: 'RenderImage', small: 'RenderImageSmall', large: 'RenderImageLarge' };
    expect(names).toEqual(renderers.map((renderer) => functionOf[renderer]));
    expect(chosen.replace(/'arn:[^']+'/g, 'ARN')).toBe(
      "States.ArrayGetItem(States.Array(ARN, ARN, ARN), States.StringToJson(States.ArrayGetItem(States.StringSplit(States.Format('{}#0', States.JsonToString($)), '#'), 1)))",
    );
    expect(others).toEqual({ 'Payload.$': '$' });
    expect(stateNamed('RenderImage')).toMatchObject({ OutputPath: '$.Payload' });
  });

  it('A time-out of Step Functions refunds a rendering, and repeats an attempt of a webhook', () => {
    expect(stateNamed('RenderImage').Catch?.[2]).toMatchObject({
      ErrorEquals: timeOuts,
      Next: 'RefundCharge',
    });
    for (const error of timeOuts) {
      expect(retrierOf('RenderImage', error)).toBeUndefined();
      expect(retrierOf('DeliverWebhook', error)?.MaxAttempts).toBe(5);
    }
  });

  it.each(tasks)(
    'The task %s says what it does, how long it may take and what is tried again',
    (name, { Comment, TimeoutSeconds, Retry }) => {
      expect(Comment?.length).toBeGreaterThan(20);
      expect(TimeoutSeconds).toBeGreaterThan(functionTimeout(name));
      expect(Retry?.length).toBeGreaterThan(0);
    },
  );

  it.each(tasks)(
    'The task %s tries again after every fault of Lambda and every way in which a function dies',
    (_name, { Retry }) => {
      const retried = Retry?.flatMap(({ ErrorEquals }) => ErrorEquals) ?? [];
      if (!retried.includes('States.ALL'))
        expect(retried).toEqual(expect.arrayContaining([throttle, ...serviceFaults, ...deaths]));
    },
  );

  it('The state machine leaves the creation to the reconciler when the table is busy, another invocation still renders, Lambda has no room, or no function can render the creation of this release', () => {
    expect(stateNamed('RenderImage').Catch?.[1]).toMatchObject({
      ErrorEquals: [
        'CommitBusy',
        'StillRunning',
        'NewerRelease',
        'Lambda.ResourceNotFoundException',
        throttle,
      ],
      Next: 'LeaveToReconciler',
    });
  });

  it('The state machine ends no execution because of a webhook, and leaves the webhook to the reconciler', () => {
    expect(stateNamed('DeliverWebhook').Catch).toMatchObject([{ ErrorEquals: ['States.ALL'] }]);
    const next = stateNamed('DeliverWebhook').Catch?.[0]?.Next ?? '';
    expect(stateNamed(next).Type).toBe('Succeed');
  });

  it('The state machine catches no error of the refund: an execution that cannot refund fails, and the reconciler is notified', () => {
    expect(stateNamed('RefundCharge').Catch).toBeUndefined();
    expect(retrierOf('RefundCharge', 'States.ALL')?.MaxAttempts).toBeGreaterThanOrEqual(5);
  });
});

describe('the waits', () => {
  it('The waits between webhook attempts are those of the contract', () => {
    const retrier = retrierOf('DeliverWebhook', 'WebhookNotDelivered');
    expect(retrier && waits(retrier)).toEqual([...webhookWaitsSeconds]);
    expect(retrier?.MaxAttempts).toBe(webhookAttempts - 1);
  });

  it('The waits for a creation that another invocation renders last longer than the longest deadline', () => {
    const retrier = retrierOf('RenderImage', 'StillRunning');
    const total = retrier ? waits(retrier).reduce((sum, wait) => sum + wait, 0) : 0;
    expect(total).toBeGreaterThan(limitRanges.deadlineSeconds[1]);
  });

  it('The waits for a renderer for which Lambda has no room last longer than the longest deadline, with the half of them that jitter leaves', () => {
    const retrier = retrierOf('RenderImage', throttle);
    const total = retrier ? waits(retrier).reduce((sum, wait) => sum + wait, 0) : 0;
    // Jitter draws each wait between 0 and its length. The sum of 120 of them is close to the half.
    expect(total / 2).toBeGreaterThan(1.4 * limitRanges.deadlineSeconds[1]);
  });

  it('The longest deadline and all attempts of a webhook fit into the time of an execution', () => {
    const webhooks =
      webhookWaitsSeconds.reduce((sum, wait) => sum + wait, 0) +
      (webhookAttempts * webhookAttemptMillis) / 1000;
    expect(definition.TimeoutSeconds).toBeGreaterThan(limitRanges.deadlineSeconds[1] + webhooks);
  });

  it('The time limit of the renderer is longer than the longest deadline of a creation', () => {
    for (const name of ['RenderImage', 'RenderImageSmall', 'RenderImageLarge'])
      expect(functionTimeout(name)).toBeGreaterThan(limitRanges.deadlineSeconds[1]);
  });
});

describe('the policy of a task', () => {
  it('The state machine has two hours for an execution and four states in all', () => {
    expect([definition.TimeoutSeconds, Object.keys(definition.States)]).toEqual([
      7_200,
      ['RenderImage', 'RefundCharge', 'DeliverWebhook', 'LeaveToReconciler'],
    ]);
  });
});

describe('the state machine of notices', () => {
  it('The state machine of notices has the last two states of a creation, and begins with DeliverWebhook', () => {
    const notices = JSON.parse(noticeMachine.definition) as Machine;
    // Parsed again, because the validator adds members to the definition that it gets.
    const { DeliverWebhook, LeaveToReconciler } = (JSON.parse(machine.definition) as Machine).States;
    expect(notices.StartAt).toBe('DeliverWebhook');
    expect(notices.States).toEqual({ DeliverWebhook, LeaveToReconciler });
    expect(notices.TimeoutSeconds).toBe(definition.TimeoutSeconds);
    expect(aslValidator(notices).isValid).toBe(true);
  });
});

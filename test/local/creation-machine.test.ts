/** The two definitions of the state machine on virtual time, with functions that the test replaces. */
import * as FakeTimers from '@sinonjs/fake-timers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { callbackDefinition, creationDefinition } from '../../lib/machine-definitions.ts';
import type { InvocationResult } from '../../local/lambda/messages.ts';
import { createStateMachine, type Outcome } from '../../local/step-functions/state-machine.ts';
import { createTaskTokens, type TaskMessage } from '../../local/step-functions/task-tokens.ts';

const plainDefinition = creationDefinition();
let clock: ReturnType<typeof FakeTimers.install>;
beforeEach(() => {
  clock = FakeTimers.install({ now: 0, toFake: ['setTimeout', 'clearTimeout', 'Date'] });
});
afterEach(() => {
  clock.uninstall();
});

interface Called {
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly atSeconds: number;
}

interface Ran {
  readonly called: readonly Called[];
  readonly outcome: Outcome;
  /** How often a state was entered. AWS bills each of them. */
  readonly entered: number;
}

type Answer = InvocationResult | 'hangs';

/** The answer of a function that throws this error. */
function thrown(errorType: string): InvocationResult {
  return { ok: false, error: { errorType, errorMessage: 'why' } };
}

/** Runs an execution to its end. `answer` gets each call of a function, and the calls before it. */
async function execute(
  definition: string,
  input: Readonly<Record<string, unknown>>,
  answer: (call: Called, before: readonly Called[]) => Answer,
  tokens = createTaskTokens(() => 'one'),
): Promise<Ran> {
  const called: Called[] = [];
  let entered = 0;
  const withArns = definition.replace(
    /\$\{(\w+)Arn\}/g,
    (_, name: string) => `arn:aws:lambda:us-east-1:000000000000:function:${name}`,
  );
  const machine = createStateMachine(withArns, {
    openTask: tokens.open,
    // The tests of the stack validate the two definitions.
    validates: false,
    invokeTask: ({ resource, input: payload }) => {
      const name = resource.replace(/^.*:function:/, '');
      const call = { name, input: payload as Called['input'], atSeconds: clock.now / 1_000 };
      const result = answer(call, [...called]);
      called.push(call);
      return result === 'hangs' ? new Promise(() => undefined) : Promise.resolve(result);
    },
    onEvent: (_execution, { type }) => {
      if (type === 'StateEntered') entered += 1;
    },
  });
  const { outcome } = machine.start({ name: 'one', arn: 'arn:one' }, input);
  await clock.tickAsync(7_200_000);
  return { called, outcome: await outcome, entered };
}

const done: TaskMessage = { kind: 'success', output: { creation_id: 'one' } };
const routeEnded: TaskMessage = { kind: 'failure', error: 'RouteEnded', cause: '' };

/**
 * Runs the callback machine. Each try of RenderImage gets the next of `tries`: an error of the function, or
 * what somebody sends with the token 10 s later. Without one, nobody sends anything.
 */
async function runCallback(tries: readonly (InvocationResult | TaskMessage | undefined)[]): Promise<Ran> {
  let ids = 0;
  const tokens = createTaskTokens(() => String((ids += 1)));
  const left = [...tries];
  const answer = ({ name, input }: Called): Answer => {
    const next = name.startsWith('RenderImage') ? left.shift() : undefined;
    if (next !== undefined && 'ok' in next) return next;
    if (next !== undefined) setTimeout(() => void tokens.send(String(input['task_token']), next), 10_000);
    return { ok: true, payload: input };
  };
  const input = { creation_id: 'one', renderer: '#1#' };
  return execute(callbackDefinition(plainDefinition), input, answer, tokens);
}

const timesOf = ({ called }: Ran): [string, number][] =>
  called.map(({ name, atSeconds }) => [name, atSeconds]);

describe('the callback machine', () => {
  it('A rendering that succeeds takes one transition, and hands the input of the execution on', async () => {
    const ran = await runCallback([done]);
    expect(timesOf(ran)).toEqual([['RenderImageSmall', 0]]);
    expect(ran.called[0]?.input).toEqual({
      creation_id: 'one',
      task_token: expect.any(String) as string,
      input: { creation_id: 'one', renderer: '#1#' },
    });
    expect(ran.entered).toBe(1);
    expect(ran.outcome).toEqual({ status: 'SUCCEEDED', output: { creation_id: 'one' } });
  });

  it.each<[string, TaskMessage | InvocationResult, number]>([
    ['ReceiveCallback', { kind: 'failure', error: 'WebhookNotDelivered', cause: '' }, 10],
    ['the renderer', thrown('WebhookNotDelivered'), 0],
  ])('A webhook that %s could not deliver is left to DeliverWebhook', async (_who, end, atSeconds) => {
    const ran = await runCallback([end]);
    expect(timesOf(ran)).toEqual([
      ['RenderImageSmall', 0],
      ['DeliverWebhook', atSeconds],
    ]);
    expect(ran.entered).toBe(2);
  });

  it('A lost callback costs a minute, and the next invocation has another token', async () => {
    const ran = await runCallback([undefined, done]);
    expect(timesOf(ran)).toEqual([
      ['RenderImageSmall', 0],
      ['RenderImageSmall', 61],
    ]);
    expect(ran.called[0]?.input['task_token']).not.toBe(ran.called[1]?.input['task_token']);
  });

  it('RenderImage goes on a second after a route has ended', async () => {
    expect(timesOf(await runCallback([routeEnded, routeEnded, done]))).toEqual([
      ['RenderImageSmall', 0],
      ['RenderImageSmall', 11],
      ['RenderImageSmall', 22],
    ]);
  });

  it('An error of RenderImage is treated as by the plain machine', async () => {
    const ran = await runCallback([thrown('StillRunning'), thrown('GenerationFailed')]);
    expect(timesOf(ran)).toEqual([
      ['RenderImageSmall', 0],
      ['RenderImageSmall', 2],
      ['RefundCharge', 2],
      ['DeliverWebhook', 2],
    ]);
    expect(ran.called[2]?.input).toMatchObject({
      creation_id: 'one',
      failure: { Error: 'GenerationFailed' },
    });
  });

  it('A creation whose task nobody ever ends is refunded in the end', async () => {
    const ran = await runCallback([]);
    expect(ran.called.map(({ name }) => name).slice(-3)).toEqual([
      'RenderImageSmall',
      'RefundCharge',
      'DeliverWebhook',
    ]);
    expect(ran.called.at(-2)?.input).toMatchObject({ failure: { Error: 'States.Timeout' } });
  });
});

/** Runs the plain machine. A function without an answer in `answers` returns its input. */
async function run(
  input: Readonly<Record<string, unknown>>,
  answers: Readonly<Record<string, readonly Answer[]>> = {},
): Promise<Ran> {
  return execute(
    plainDefinition,
    input,
    ({ name, input: payload }, before) =>
      answers[name]?.[before.filter((call) => call.name === name).length] ?? { ok: true, payload },
  );
}

const small = { creation_id: 'one', renderer: '#1#' };

describe('the function of a rendering', () => {
  it.each([
    ['#0#', 'RenderImage'],
    ['#1#', 'RenderImageSmall'],
    ['#2#', 'RenderImageLarge'],
    [undefined, 'RenderImage'],
  ])(
    'The index %s leads to %s, whose input and output are those of the execution',
    async (renderer, name) => {
      const input = { creation_id: 'one', ...(renderer !== undefined && { renderer }) };
      const { called, outcome } = await run(input);
      expect(called.map((call) => call.name)).toEqual([name]);
      expect(called.map((call) => call.input)).toEqual([input]);
      expect(outcome).toEqual({ status: 'SUCCEEDED', output: input });
    },
  );

  it('The index counts wherever it stands in the input', async () => {
    const { called } = await run({ renderer: '#2#', creation_id: 'one' });
    expect(called[0]?.name).toBe('RenderImageLarge');
  });

  it('A retry calls the same function again', async () => {
    const { called } = await run(small, { RenderImageSmall: [thrown('StillRunning'), thrown('CommitBusy')] });
    expect(called.map(({ name }) => name)).toEqual([
      'RenderImageSmall',
      'RenderImageSmall',
      'RenderImageSmall',
    ]);
  });

  it('An index of a later release that this definition does not know is refunded', async () => {
    const { called } = await run({ creation_id: 'one', renderer: '#3#' });
    expect(called.map(({ name }) => name)).toEqual(['RefundCharge', 'DeliverWebhook']);
  });
});

describe('a webhook that the renderer could not deliver', () => {
  it('DeliverWebhook finds nothing due at once, and runs again when each of the four other attempts is due', async () => {
    const { called, entered, outcome } = await run(small, {
      RenderImageSmall: [thrown('WebhookNotDelivered')],
      DeliverWebhook: Array.from({ length: 4 }, () => thrown('WebhookNotDelivered')),
    });
    expect(called.map(({ name, atSeconds }) => [name, atSeconds])).toEqual([
      ['RenderImageSmall', 0],
      ...[0, 60, 180, 420, 900].map((atSeconds) => ['DeliverWebhook', atSeconds]),
    ]);
    expect(entered).toBe(2);
    expect(outcome.status).toBe('SUCCEEDED');
  });
});

describe('an error of AWS', () => {
  it('A rendering that takes longer than its Task may is refunded as States.Timeout, and not repeated', async () => {
    const { called } = await run(small, { RenderImageSmall: ['hangs'] });
    expect(called.map(({ name, atSeconds }) => [name, atSeconds])).toEqual([
      ['RenderImageSmall', 0],
      ['RefundCharge', 840],
      ['DeliverWebhook', 840],
    ]);
    expect(called[1]?.input).toMatchObject({ ...small, failure: { Error: 'States.Timeout' } });
  });

  it.each(['Runtime.OutOfMemory', 'Lambda.Unknown', 'Runtime.ExitError'])(
    'A rendering that ends with %s is repeated twice, then refunded',
    async (name) => {
      const dead = thrown(name);
      const { called } = await run(small, { RenderImageSmall: [dead, dead, dead] });
      expect(called.map((call) => call.name)).toEqual([
        'RenderImageSmall',
        'RenderImageSmall',
        'RenderImageSmall',
        'RefundCharge',
        'DeliverWebhook',
      ]);
      expect(called[3]?.input).toMatchObject({ failure: { Error: name } });
    },
  );

  it('A refund that takes longer than its Task may is repeated', async () => {
    const { called, outcome } = await run(small, {
      RenderImageSmall: [thrown('GenerationFailed')],
      RefundCharge: ['hangs'],
    });
    expect(called.filter(({ name }) => name === 'RefundCharge')).toHaveLength(2);
    expect(outcome.status).toBe('SUCCEEDED');
  });

  it('A webhook attempt that takes longer than its Task may is repeated', async () => {
    const { called, outcome } = await run(small, {
      RenderImageSmall: [thrown('WebhookNotDelivered')],
      DeliverWebhook: ['hangs', 'hangs'],
    });
    const deliveries = called.filter(({ name }) => name === 'DeliverWebhook');
    expect(deliveries.map(({ atSeconds }) => atSeconds)).toEqual([0, 62, 126]);
    expect(outcome.status).toBe('SUCCEEDED');
  });
});

describe('a function for which Lambda has no room', () => {
  const times = (count: number): readonly Answer[] =>
    Array.from({ length: count }, () => thrown('Lambda.TooManyRequestsException'));

  it('A rendering is tried until Lambda has room, and not refunded', async () => {
    const { called } = await run(small, { RenderImageSmall: times(120) });
    expect(called.map(({ name }) => name)).toEqual(Array.from({ length: 121 }, () => 'RenderImageSmall'));
  });

  it('A rendering that never gets room is left to the reconciler, and not refunded', async () => {
    const { called, outcome } = await run(small, { RenderImageSmall: times(121) });
    expect(new Set(called.map(({ name }) => name))).toEqual(new Set(['RenderImageSmall']));
    expect(outcome.status).toBe('SUCCEEDED');
  });

  it('A refund and a webhook are tried until Lambda has room', async () => {
    const { called, outcome } = await run(small, {
      RenderImageSmall: [thrown('GenerationFailed')],
      RefundCharge: times(60),
      DeliverWebhook: times(60),
    });
    const triesOf = (fn: string): number => called.filter(({ name }) => name === fn).length;
    expect(['RefundCharge', 'DeliverWebhook'].map(triesOf)).toEqual([61, 61]);
    expect(outcome.status).toBe('SUCCEEDED');
  });
});

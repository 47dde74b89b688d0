/**
 * Every line of the definitions runs under the interpreter: each state and way on, each name in Retry and Catch, each
 * function that an intrinsic picks.
 */
import * as FakeTimers from '@sinonjs/fake-timers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callbackDefinition, creationDefinition, noticeDefinition } from '../../lib/machine-definitions.ts';
import { createStateMachine, type HistoryEvent } from '../../local/step-functions/state-machine.ts';
import { createTaskTokens } from '../../local/step-functions/task-tokens.ts';

let clock: ReturnType<typeof FakeTimers.install>;
beforeAll(() => {
  clock = FakeTimers.install({ now: 0, toFake: ['setTimeout', 'clearTimeout', 'Date'] });
});
afterAll(() => {
  clock.uninstall();
});

interface Entry {
  readonly ErrorEquals: readonly string[];
  readonly Next?: string;
}

interface State {
  readonly Type: string;
  readonly Resource?: string;
  readonly Parameters?: Readonly<Record<string, unknown>>;
  readonly Retry?: readonly Entry[];
  readonly Catch?: readonly Entry[];
  readonly Next?: string;
}

const plain = creationDefinition();
const definitions: Readonly<Record<string, string>> = {
  creation: plain,
  callback: callbackDefinition(plain),
  notice: noticeDefinition(plain),
};
const statesOf = (text: string): readonly [string, State][] =>
  Object.entries((JSON.parse(text) as { States: Readonly<Record<string, State>> }).States);

const linesOf = (state: string, part: string, entries: readonly Entry[] = []): string[] =>
  entries.flatMap(({ ErrorEquals }) => ErrorEquals.map((name) => `${state} ${part} ${name}`));
const wayTo = (state: string, next: string): string => `${state} to ${next}`;
const intrinsic = /States\.\w+/g;

/** Everything that a set of runs has to reach. */
function linesIn(text: string): string[] {
  return statesOf(text).flatMap(([state, { Retry, Catch, Next, Parameters, Resource }]) => [
    state,
    ...linesOf(state, 'Retry', Retry),
    ...linesOf(state, 'Catch', Catch),
    ...[...(Catch ?? []), { Next }].flatMap((one) =>
      one.Next === undefined ? [] : [wayTo(state, one.Next)],
    ),
    ...[...JSON.stringify([Parameters, Resource]).matchAll(/\$\{(\w+)Arn\}/g)].map(
      ([, fn]) => `function ${fn}`,
    ),
    ...[...new Set(JSON.stringify(Parameters ?? {}).match(intrinsic))].map((name) => `${state} ${name}`),
  ]);
}

interface Run {
  /** The function of this state throws the error, the first of so many times. */
  readonly state: string;
  readonly error: string;
  readonly times: number;
  readonly renderer?: number;
}

/** The errors on the way to a state: the function of the state before ends with them. */
const ways: Readonly<Record<string, string | undefined>> = {
  RefundCharge: 'GenerationFailed',
  DeliverWebhook: 'WebhookNotDelivered',
};

async function run(text: string, { state, error, times, renderer = 1 }: Run): Promise<ReadonlySet<string>> {
  const reached = new Set<string>();
  let failed = '';
  let before: string | undefined;
  const hear = ({ type, state: at = '', error: name = '', entry = [] }: HistoryEvent): void => {
    if (type === 'StateFailed') failed = name;
    if (type === 'StateEntered') {
      reached.add(at);
      if (before !== undefined) reached.add(wayTo(before, at));
      before = at;
    }
    const part = { StateRetried: 'Retry', StateCaught: 'Catch' }[type];
    if (part) reached.add(`${at} ${part} ${entry.includes(failed) ? failed : 'States.ALL'}`);
  };
  const states = new Map(statesOf(text));
  const tokens = createTaskTokens(() => String(clock.now));
  let thrown = 0;
  const machine = createStateMachine(
    text.replace(
      /\$\{(\w+)Arn\}/g,
      (_, name: string) => `arn:aws:lambda:us-east-1:000000000000:function:${name}`,
    ),
    {
      openTask: tokens.open,
      validates: false,
      invokeTask: async (call) => {
        reached.add(`function ${call.resource.replace(/^.*:/, '')}`);
        for (const [name] of JSON.stringify(states.get(call.state)?.Parameters ?? {}).matchAll(intrinsic))
          reached.add(`${call.state} ${name}`);
        const errorType = call.state === state ? error : states.has('RenderImage') ? ways[state] : undefined;
        const isHere = call.state === state ? (thrown += 1) <= times : call.state === 'RenderImage';
        if (isHere && errorType !== undefined)
          return { ok: false, error: { errorType, errorMessage: 'why' } };
        const { task_token: token } = call.input as { readonly task_token?: string };
        if (token !== undefined) tokens.send(token, { kind: 'success', output: call.input });
        return Promise.resolve({ ok: true, payload: call.input });
      },
      onEvent: (_execution, event) => hear(event),
    },
  );
  const input = { creation_id: 'one', renderer: `#${renderer}#` };
  const { outcome } = machine.start({ name: 'one', arn: 'arn:one' }, input);
  await clock.tickAsync(7_200_000);
  await outcome;
  return reached;
}

const everyTime = 1_000;
/** What the functions and Lambda throw. Each occurs once, and then at every attempt. */
const errors = [
  'StillRunning',
  'CommitBusy',
  'NewerRelease',
  'RouteEnded',
  'WebhookNotDelivered',
  'GenerationFailed',
  'Lambda.TooManyRequestsException',
  'Lambda.ServiceException',
  'Lambda.AWSLambdaException',
  'Lambda.SdkClientException',
  'Lambda.ClientExecutionTimeoutException',
  'Lambda.ResourceNotFoundException',
  'Lambda.Unknown',
  'Sandbox.Timedout',
  'Sandbox.Timeout',
  'Sandbox.Failure',
  'Runtime.ExitError',
  'Runtime.OutOfMemory',
  'Runtime.Unknown',
  'Runtime.UnhandledPromiseRejection',
  'States.Timeout',
  'States.HeartbeatTimeout',
];

/** @param without leaves out the runs with this error */
async function unreached(text: string, without?: string): Promise<readonly string[]> {
  const lines = linesIn(text);
  const names = statesOf(text).flatMap(([name, { Type }]) => (Type === 'Task' ? [name] : []));
  const runs: Run[] = [
    ...[0, 1, 2].map((renderer) => ({ state: '', error: '', times: 0, renderer })),
    ...names.flatMap((state) =>
      errors
        .filter((error) => error !== without)
        .flatMap((error) => [1, everyTime].map((times) => ({ state, error, times }))),
    ),
  ];
  const reached = new Set<string>();
  for (const one of runs) for (const line of await run(text, one)) reached.add(line);
  return lines.filter((line) => !reached.has(line));
}

describe('the definitions of the state machines', () => {
  it.each(Object.entries(definitions))('The runs reach every line of the machine %s', async (_name, text) => {
    expect(await unreached(text)).toEqual([]);
  });

  it('Without the runs of an error, its lines are named', async () => {
    expect(await unreached(definitions['notice'] ?? '', 'Sandbox.Timeout')).toEqual([
      'DeliverWebhook Retry Sandbox.Timeout',
    ]);
  });
});

/** The definition of the callback machine on virtual time, with a function and an end that the test replaces. */
import { describe, expect, it } from 'vitest';
import { callbackDefinition } from '../../lib/machine-definitions.ts';
import type { InvocationResult } from '../../local/lambda/messages.ts';
import { createStateMachine, type Outcome } from '../../local/step-functions/state-machine.ts';
import { createTaskTokens, type TaskMessage } from '../../local/step-functions/task-tokens.ts';
import { plainDefinition, thrown, virtualTime, withArns } from './virtual-machine.ts';

const definition = withArns(callbackDefinition(plainDefinition));
const clock = virtualTime();

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

const done: TaskMessage = { kind: 'success', output: { creation_id: 'one' } };
const routeEnded: TaskMessage = { kind: 'failure', error: 'RouteEnded', cause: '' };

/**
 * Runs an execution. Each try of RenderImage gets the next of `tries`: an error of the function, or what
 * somebody sends with the token 10 s later. Without one, nobody sends anything.
 */
async function run(tries: readonly (InvocationResult | TaskMessage | undefined)[]): Promise<Ran> {
  const called: Called[] = [];
  let entered = 0;
  let ids = 0;
  const tokens = createTaskTokens(() => String((ids += 1)));
  const machine = createStateMachine(definition, {
    openTask: tokens.open,
    invokeTask: ({ resource, input, state }) => {
      const payload = input as Readonly<Record<string, unknown>>;
      const before = called.filter(({ name }) => name.startsWith('RenderImage')).length;
      called.push({
        name: resource.replace(/^.*:function:/, ''),
        input: payload,
        atSeconds: clock().now / 1_000,
      });
      if (state !== 'RenderImage') return Promise.resolve({ ok: true, payload });
      const next = tries[before];
      if (next !== undefined && 'ok' in next) return Promise.resolve(next);
      if (next !== undefined) setTimeout(() => void tokens.send(String(payload['task_token']), next), 10_000);
      return Promise.resolve({ ok: true, payload });
    },
    onEvent: (_execution, { type }) => {
      if (type === 'StateEntered') entered += 1;
    },
  });
  const { outcome } = machine.start({ name: 'one', arn: 'arn:one' }, { creation_id: 'one', renderer: '#1#' });
  await clock().tickAsync(7_200_000);
  return { called, outcome: await outcome, entered };
}

const timesOf = ({ called }: Ran): [string, number][] =>
  called.map(({ name, atSeconds }) => [name, atSeconds]);

describe('the callback machine', () => {
  it('A rendering that succeeds takes two transitions, and hands the id of its creation on', async () => {
    const ran = await run([done]);
    expect(timesOf(ran)).toEqual([
      ['RenderImageSmall', 0],
      ['DeliverWebhook', 10],
    ]);
    expect(ran.called[0]?.input).toEqual({
      creation_id: 'one',
      task_token: expect.any(String) as string,
      input: { creation_id: 'one', renderer: '#1#' },
    });
    expect(ran.called[1]?.input).toEqual({ creation_id: 'one' });
    expect(ran.entered).toBe(2);
    expect(ran.outcome.status).toBe('SUCCEEDED');
  });

  it('A lost callback costs a minute, and the next invocation has another token', async () => {
    const ran = await run([undefined, done]);
    expect(timesOf(ran)).toEqual([
      ['RenderImageSmall', 0],
      ['RenderImageSmall', 61],
      ['DeliverWebhook', 71],
    ]);
    expect(ran.called[0]?.input['task_token']).not.toBe(ran.called[1]?.input['task_token']);
  });

  it('RenderImage goes on a second after a route has ended', async () => {
    expect(timesOf(await run([routeEnded, routeEnded, done]))).toEqual([
      ['RenderImageSmall', 0],
      ['RenderImageSmall', 11],
      ['RenderImageSmall', 22],
      ['DeliverWebhook', 32],
    ]);
  });

  it('An error of RenderImage is treated as by the plain machine', async () => {
    const ran = await run([thrown('StillRunning'), thrown('GenerationFailed')]);
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
    const ran = await run([]);
    expect(ran.called.map(({ name }) => name).slice(-3)).toEqual([
      'RenderImageSmall',
      'RefundCharge',
      'DeliverWebhook',
    ]);
    expect(ran.called.at(-2)?.input).toMatchObject({ failure: { Error: 'States.Timeout' } });
  });
});

/** The real definition of the state machine on virtual time, with functions that the test replaces. */
import { describe, expect, it } from 'vitest';
import type { InvocationResult } from '../../local/lambda/messages.ts';
import { createStateMachine } from '../../local/step-functions/state-machine.ts';
import type { Outcome } from '../../local/step-functions/state-machine.ts';
import { createTaskTokens } from '../../local/step-functions/task-tokens.ts';
import { plainDefinition, thrown, virtualTime, withArns } from './virtual-machine.ts';

const definition = withArns(plainDefinition);
const clock = virtualTime();

interface Called {
  readonly name: string;
  readonly input: unknown;
  readonly atSeconds: number;
}

type Answer = InvocationResult | 'hangs';

/** Runs an execution. A function without an answer in `answers` returns its input. */
async function run(
  input: Readonly<Record<string, unknown>>,
  answers: Readonly<Record<string, readonly Answer[]>> = {},
): Promise<{ readonly called: Called[]; readonly outcome: Outcome }> {
  const called: Called[] = [];
  const machine = createStateMachine(definition, {
    openTask: createTaskTokens(() => 'one').open,
    invokeTask: async ({ resource, input: payload }) => {
      const name = resource.replace(/^.*:function:/, '');
      const before = called.filter((call) => call.name === name).length;
      called.push({ name, input: payload, atSeconds: clock().now / 1000 });
      const answer = answers[name]?.[before] ?? { ok: true, payload };
      return answer === 'hangs' ? new Promise(() => undefined) : Promise.resolve(answer);
    },
  });
  const { outcome } = machine.start({ name: 'one', arn: 'arn:one' }, input);
  await clock().tickAsync(7_200_000);
  return { called, outcome: await outcome };
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
      expect(called.map((call) => call.name)).toEqual([name, 'DeliverWebhook']);
      expect(called.map((call) => call.input)).toEqual([input, input]);
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
      'DeliverWebhook',
    ]);
  });

  it('An index of a later release that this definition does not know is refunded', async () => {
    const { called } = await run({ creation_id: 'one', renderer: '#3#' });
    expect(called.map(({ name }) => name)).toEqual(['RefundCharge', 'DeliverWebhook']);
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
    const { called, outcome } = await run(small, { DeliverWebhook: ['hangs', 'hangs'] });
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
    expect(called.map(({ name }) => name)).toEqual([
      ...Array.from({ length: 121 }, () => 'RenderImageSmall'),
      'DeliverWebhook',
    ]);
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

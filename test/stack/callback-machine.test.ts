/** The callback machine differs from the plain machine in its state RenderImage, and nowhere else. */
import aslValidator from 'asl-validator';
import { describe, expect, it } from 'vitest';
import { heartbeatSeconds } from '../../service/creations/machines.ts';
import models from '../../service/catalog/models.json' with { type: 'json' };
import { limitRanges } from '../../service/contract/limits.ts';
import { nameOf, resolved } from './template.ts';

interface Retrier {
  readonly ErrorEquals: readonly string[];
  readonly IntervalSeconds: number;
  readonly BackoffRate: number;
  readonly MaxAttempts: number;
}

interface RenderState {
  readonly Comment: string;
  readonly OutputPath?: string;
  readonly Parameters: Readonly<Record<string, unknown>>;
  readonly HeartbeatSeconds: number;
  readonly TimeoutSeconds: number;
  readonly Retry: readonly Retrier[];
}

interface Machine {
  readonly States: Readonly<Record<string, object>> & { readonly RenderImage: RenderState };
}

const definitionOf = (name: string): Machine => {
  const machine = resolved.stateMachines.find(({ id }) => nameOf(id) === name);
  if (!machine) throw new Error(`no ${name}`);
  return JSON.parse(machine.definition) as Machine;
};
const plain = definitionOf('CreationStateMachine');
const callback = definitionOf('CreationCallbackMachine');
const { RenderImage } = callback.States;
const [lostHeartbeat, routeEnded] = RenderImage.Retry;
const longest = limitRanges.deadlineSeconds[1];

describe('the callback machine', () => {
  it('The callback machine is valid Amazon States Language', () => {
    expect(aslValidator(structuredClone(callback))).toMatchObject({ isValid: true, errors: [] });
  });

  it('The callback machine has every state of the plain machine, and only RenderImage differs', () => {
    const { RenderImage: _waiting, ...states } = callback.States;
    const { RenderImage: _plain, ...others } = plain.States;
    expect(states).toEqual(others);
    expect({ ...callback, States: {} }).toEqual({ ...plain, States: {} });
    expect(Object.keys(callback.States)).toEqual(Object.keys(plain.States));
  });

  it('RenderImage waits for its token, takes the ids and the input of the execution, and has the output of SendTaskSuccess', () => {
    const { OutputPath, ...before } = plain.States.RenderImage;
    expect(OutputPath).toBe('$.Payload');
    expect(RenderImage).toEqual({
      ...before,
      Comment: expect.stringContaining(before.Comment) as string,
      Resource: 'arn:aws:states:::lambda:invoke.waitForTaskToken',
      Parameters: {
        'FunctionName.$': before.Parameters['FunctionName.$'],
        Payload: { 'creation_id.$': '$.creation_id', 'task_token.$': '$$.Task.Token', 'input.$': '$' },
      },
      HeartbeatSeconds: 60,
      TimeoutSeconds: 900,
      Retry: [lostHeartbeat, routeEnded, ...before.Retry],
    });
  });

  it('The function that parks knows the heartbeat of the machine', () => {
    expect(RenderImage.HeartbeatSeconds).toBe(heartbeatSeconds);
  });

  it('After a lost heartbeat RenderImage runs again a second later, for longer than the longest deadline', () => {
    expect(lostHeartbeat).toEqual({
      ErrorEquals: ['States.Timeout', 'States.HeartbeatTimeout'],
      IntervalSeconds: 1,
      BackoffRate: 1,
      MaxAttempts: 15,
    });
    expect((lostHeartbeat?.MaxAttempts ?? 0) * (RenderImage.HeartbeatSeconds + 1)).toBeGreaterThan(longest);
  });

  it('RenderImage runs again after each route that ended, for more routes than a model has', () => {
    const routes = Math.max(...models.models.map((model) => model.routes.length));
    expect(routeEnded).toEqual({
      ErrorEquals: ['RouteEnded'],
      IntervalSeconds: 1,
      BackoffRate: 1,
      MaxAttempts: 10,
    });
    expect(routeEnded?.MaxAttempts).toBeGreaterThan(routes);
  });

  it('TimeoutSeconds leaves time for the longest invocation and a heartbeat after it', () => {
    const renderers = resolved.functions.filter(({ id }) => nameOf(id).startsWith('RenderImage'));
    expect(renderers).toHaveLength(3);
    for (const { timeoutSeconds } of renderers)
      expect(RenderImage.TimeoutSeconds).toBeGreaterThan(timeoutSeconds + RenderImage.HeartbeatSeconds);
  });
});

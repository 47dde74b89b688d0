/** The end of tasks, over real sockets: the real client of the SDK, and a stand-in that refuses as AWS does. */
import { SFNClient } from '@aws-sdk/client-sfn';
import { describe, expect, it } from 'vitest';
import type { AwsCall } from '../../local/aws/aws-call.ts';
import { AwsError } from '../../local/aws/aws-error.ts';
import { callLimits } from '../../service/aws/call-limits.ts';
import { createTasks, type Tasks } from '../../service/aws/step-functions.ts';
import { creationId } from '../fixtures/records.ts';
import { type Fixture, startEndpoint } from '../local/aws/endpoint-fixture.ts';

interface Stage {
  readonly tasks: Tasks;
  readonly calls: Pick<AwsCall, 'operation' | 'input'>[];
  readonly defects: string[];
  readonly faults: Fixture['faults'];
}

/** Step Functions refuses the first calls with these names, and accepts those after them. */
async function stage(refusals: readonly string[] = [], signal?: AbortSignal): Promise<Stage> {
  const calls: Stage['calls'] = [];
  const defects: string[] = [];
  const { as, faults } = await startEndpoint({
    states: ({ operation, input }) => {
      const name = refusals[calls.length];
      calls.push({ operation, input });
      return name === undefined ? Promise.resolve({}) : Promise.reject(new AwsError(name, 'said by AWS'));
    },
  });
  const client = new SFNClient({ ...as('Renderer'), ...callLimits() });
  const tasks = createTasks(client, {
    onDefect: (error) => defects.push(error),
    ...(signal && { signal }),
  });
  return { tasks, calls, defects, faults };
}

describe('the end of a task', () => {
  it('Each call carries the token: a success the id of its creation, a failure its error, a heartbeat nothing else', async () => {
    const { tasks, calls, defects } = await stage();
    expect(await tasks.succeed('token', creationId)).toBe('ended');
    expect(await tasks.fail('token', 'RouteEnded')).toBe('ended');
    expect(await tasks.heartbeat('token')).toBe('ended');
    const taskToken = 'token';
    expect(calls).toEqual([
      { operation: 'SendTaskSuccess', input: { taskToken, output: `{"creation_id":"${creationId}"}` } },
      { operation: 'SendTaskFailure', input: { taskToken, error: 'RouteEnded' } },
      { operation: 'SendTaskHeartbeat', input: { taskToken } },
    ]);
    expect(defects).toEqual([]);
  });

  it.each([
    ['TaskTimedOut', 'settled', []],
    ['TaskDoesNotExist', 'settled', []],
    ['InvalidToken', 'settled', ['InvalidToken']],
    ['InvalidOutput', 'unclear', ['InvalidOutput']],
    ['ValidationException', 'unclear', ['ValidationException']],
    ['AccessDeniedException', 'unclear', ['AccessDeniedException']],
    ['KmsAccessDeniedException', 'unclear', ['KmsAccessDeniedException']],
    ['KmsInvalidStateException', 'unclear', ['KmsInvalidStateException']],
    ['AnythingElse', 'unclear', []],
  ] as const)(
    'The refusal %s is %s after one call, and reports the defects %j',
    async (name, outcome, told) => {
      const { tasks, calls, defects } = await stage([name, name, name]);
      expect(await tasks.succeed('token', creationId)).toBe(outcome);
      expect([calls.length, defects.splice(0)]).toEqual([1, told]);
      expect(await tasks.fail('token', 'RouteEnded')).toBe(outcome);
      expect([calls.length, defects.splice(0)]).toEqual([2, told]);
      expect(await tasks.heartbeat('token')).toBe(outcome);
      expect([calls.length, defects]).toEqual([3, told]);
    },
  );

  it('A call that is throttled is repeated twice, and then it is unclear', async () => {
    const throttled = 'ThrottlingException';
    const soon = await stage([throttled, throttled]);
    expect(await soon.tasks.succeed('token', creationId)).toBe('ended');
    expect(soon.calls).toHaveLength(3);
    const never = await stage([throttled, throttled, throttled]);
    expect(await never.tasks.succeed('token', creationId)).toBe('unclear');
    expect([never.calls.length, never.defects]).toEqual([3, []]);
  });

  it('A success whose answer is lost is repeated, and the refusal of the repeat settles it', async () => {
    const { tasks, calls, faults } = await stage([undefined as never, 'TaskTimedOut']);
    faults.set({ call: 'states:SendTaskSuccess', error: 'Timeout', when: 'after' });
    expect(await tasks.succeed('token', creationId)).toBe('settled');
    expect(calls).toHaveLength(2);
  });

  it('A call that the end of the request interrupts is unclear', async () => {
    const controller = new AbortController();
    const { tasks, faults } = await stage([], controller.signal);
    faults.set({ call: 'states:*', error: 'hang' });
    const outcome = tasks.succeed('token', creationId);
    setTimeout(() => controller.abort(), 50);
    expect(await outcome).toBe('unclear');
  });
});

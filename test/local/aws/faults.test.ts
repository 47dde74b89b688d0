import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { AwsCall, AwsOutput } from '../../../local/aws/aws-call.ts';
import { AwsError } from '../../../local/aws/aws-error.ts';
import { createFaults } from '../../../local/aws/faults.ts';

describe('the calls that a fault strikes', () => {
  const call = (over: Partial<AwsCall> = {}): AwsCall => ({
    service: 'dynamodb',
    operation: 'PutItem',
    caller: 'ChargeRole',
    input: { Item: { pk: 'ACCOUNT#a' } },
    ...over,
  });

  async function struck(fault: object, calls: readonly AwsCall[]): Promise<boolean[]> {
    const faults = createFaults();
    faults.set(fault);
    const outcomes: boolean[] = [];
    for (const one of calls)
      outcomes.push(
        await faults
          .apply(one, () => Promise.resolve({}))
          .then(
            () => false,
            () => true,
          ),
      );
    return outcomes;
  }
  const times = (count: number): AwsCall[] => Array.from({ length: count }, () => call());
  const throttle = { call: 'dynamodb:PutItem', error: 'Throttling' };

  test('A fault strikes once by default and then leaves the list', async () => {
    expect(await struck(throttle, times(3))).toEqual([true, false, false]);
    const faults = createFaults();
    faults.set({ ...throttle, times: 2 });
    await expect(faults.apply(call(), () => Promise.resolve({}))).rejects.toThrow();
    expect(faults.list()).toEqual([
      expect.objectContaining({ ...throttle, when: 'before', seen: 1, struck: 1 }),
    ]);
    await expect(faults.apply(call(), () => Promise.resolve({}))).rejects.toThrow();
    expect(faults.list()).toEqual([]);
  });

  test('The members times, every and share set how often a fault strikes', async () => {
    expect(await struck({ ...throttle, times: 2 }, times(3))).toEqual([true, true, false]);
    expect(await struck({ ...throttle, every: 3 }, times(6))).toEqual([
      false,
      false,
      true,
      false,
      false,
      true,
    ]);
    expect(await struck({ ...throttle, every: 2, times: 1 }, times(4))).toEqual([false, true, false, false]);
    expect((await struck({ ...throttle, share: 0.3 }, times(100))).filter(Boolean)).toHaveLength(30);
  });

  test('A fault strikes only the calls with its operation, caller and text', async () => {
    expect(await struck(throttle, [call({ operation: 'GetItem' }), call()])).toEqual([false, true]);
    expect(
      await struck({ ...throttle, call: 'dynamodb:*' }, [
        call({ service: 's3' }),
        call({ operation: 'Query' }),
      ]),
    ).toEqual([false, true]);
    expect(await struck({ ...throttle, caller: 'Charge' }, [call({ caller: 'ReadRole' }), call()])).toEqual([
      false,
      true,
    ]);
    expect(
      await struck({ ...throttle, match: 'ACCOUNT#b' }, [
        call(),
        call({ input: { Item: { pk: 'ACCOUNT#b' } } }),
      ]),
    ).toEqual([false, true]);
  });

  test('The fault kill ends the process before or after the effect of the call', async () => {
    for (const [when, expected] of [
      ['before', ['killed']],
      ['after', ['effect', 'killed']],
    ] as const) {
      const events: string[] = [];
      const faults = createFaults({
        kill: () => {
          events.push('killed');
        },
      });
      faults.set({ ...throttle, error: 'kill', when });
      await expect(
        faults.apply(call(), () => {
          events.push('effect');
          return Promise.resolve({});
        }),
      ).rejects.toThrow();
      expect(events).toEqual(expected);
    }
  });

  test.each([
    ['before', ['waits 2', 'effect']],
    ['after', ['effect', 'waits 2']],
  ] as const)('A call that hangs for 2 s %s its effect is answered after 2 s', async (when, expected) => {
    const events: string[] = [];
    const faults = createFaults({
      wait: async (seconds) => {
        events.push(`waits ${seconds}`);
        await setImmediate();
      },
    });
    faults.set({ ...throttle, error: 'hang', seconds: 2, when });
    const run = async (): Promise<AwsOutput> => {
      events.push('effect');
      await setImmediate();
      return { ok: true };
    };
    expect(await faults.apply(call(), run)).toEqual({ ok: true });
    expect(events).toEqual(expected);
  });

  test('A refusal that hangs for some seconds still arrives as a refusal', async () => {
    const faults = createFaults({ wait: () => setImmediate() });
    faults.set({ ...throttle, error: 'hang', seconds: 2, when: 'after' });
    const refuse = (): Promise<never> =>
      Promise.reject(new AwsError('ConditionalCheckFailedException', 'no'));
    await expect(faults.apply(call(), refuse)).rejects.toMatchObject({
      code: 'ConditionalCheckFailedException',
    });
  });

  test('The call clear switches all faults off', async () => {
    const faults = createFaults();
    faults.set({ ...throttle, every: 1 });
    faults.clear();
    expect(faults.list()).toEqual([]);
    expect(await faults.apply(call(), () => Promise.resolve({ ok: true }))).toEqual({ ok: true });
  });
});

describe('a fault that is not valid', () => {
  test.each([
    [{ error: 'Throttling' }, 'call: '],
    [{ call: 'dynamo:PutItem', error: 'Throttling' }, 'call: must be service:Operation'],
    [{ call: 'dynamodb:PutItem', error: 'Nonsense' }, 'error: '],
    [{ call: 'dynamodb:PutItem', error: 'Throttling', times: 0 }, 'times: '],
    [{ call: 'dynamodb:PutItem', error: 'Throttling', share: 1.5 }, 'share: '],
    [
      { call: 'dynamodb:PutItem', error: 'Throttling', share: 0.5, every: 2 },
      'share: cannot stand beside every',
    ],
    [{ call: 'dynamodb:PutItem', error: 'Throttling', wen: 'after' }, 'wen'],
    [{ call: 'dynamodb:Query', error: 'TransactionConflict' }, 'call: must be dynamodb:* or dynamodb:X'],
    [{ call: 's3:*', error: 'TransactionConflict' }, 'call: must be dynamodb:* or dynamodb:X'],
    [{ call: 'apigateway:Invoke', error: 'hang' }, 'call: must be a call of an AWS service'],
    [{ call: 'dynamodb:PutItem', error: 'Timeout', seconds: 2 }, 'seconds: is for hang only'],
    [{ call: 'dynamodb:PutItem', error: 'hang', seconds: 0 }, 'seconds: '],
    [{ call: 's3:*', error: 'index-lag' }, 'call: must be dynamodb:*'],
    ['text', 'fault: '],
  ])('The refusal of %j names the wrong field', (fault, message) => {
    expect(() => createFaults().set(fault)).toThrow(message);
  });
});

/** Calls outside a transaction: which calls are sent again, after which pauses, and which errors are thrown. */
import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { describe, expect, it } from 'vitest';
import { putNew, tryUpdate, updateIf } from '../../service/aws/dynamodb/conditional.ts';
import {
  backoffMillis,
  type CallOptions,
  getItem,
  isExhausted,
  send,
} from '../../service/aws/dynamodb/send.ts';
import type { Table } from '../../service/aws/dynamodb/table.ts';
import { transact } from '../../service/aws/dynamodb/transaction.ts';
import { Overloaded } from '../../service/values/errors.ts';
import { now } from '../fixtures/records.ts';
import { type Answer, key, named, tableThat } from './answered-table.ts';

describe('A call that DynamoDB sheds', () => {
  it.each([
    'ProvisionedThroughputExceededException',
    'RequestLimitExceeded',
    'ThrottlingException',
    'TransactionConflictException',
    'TransactionInProgressException',
  ])('A call that is shed by %s is sent again until DynamoDB takes it', async (name) => {
    const { table, clock, inputs } = tableThat(named(name), named(name), { Item: { a: 1 } });
    expect(await getItem(table, key)).toEqual({ a: 1 });
    expect([inputs.length, clock.sleeps]).toEqual([3, [1, 1]]);
  });

  it('A call is overloaded after ten tries, with the last error as the cause', async () => {
    const error = named('ThrottlingException');
    const { table, inputs } = tableThat(error);
    const ended: unknown = await getItem(table, key).catch((caught: unknown) => caught);
    expect(ended).toBeInstanceOf(Overloaded);
    expect(ended).toMatchObject({ message: 'the table stayed busy', cause: error });
    expect(inputs).toHaveLength(10);
  });

  it.each(['InternalServerError', 'AccessDeniedException', 'ConditionalCheckFailedException'])(
    'A call that ends with %s is not sent again',
    async (name) => {
      const error = named(name);
      const { table, inputs } = tableThat(error);
      await expect(getItem(table, key)).rejects.toBe(error);
      expect(inputs).toHaveLength(1);
    },
  );
});

describe('A call within a request', () => {
  it('A call carries the signal of the request, and no option without a signal', async () => {
    const { signal } = new AbortController();
    const [without, within] = [tableThat({}), tableThat({})];
    await getItem(without.table, key);
    await getItem({ ...within.table, signal }, key);
    expect([without.options, within.options]).toEqual([[{}], [{ abortSignal: signal }]]);
  });

  it('A call is overloaded when the time of the request is used up, whatever the error is', async () => {
    const error = named('AbortError');
    const { table, inputs } = tableThat(error);
    const ended: unknown = await getItem({ ...table, signal: AbortSignal.abort() }, key).catch(
      (caught: unknown) => caught,
    );
    expect(ended).toBeInstanceOf(Overloaded);
    expect(ended).toMatchObject({ message: 'the time of the request is used up', cause: error });
    expect(inputs).toHaveLength(1);
  });
});

describe('A pause between two tries', () => {
  /** A table whose pauses end only when the test says so. */
  function pausing(...answers: readonly Answer[]) {
    const stage = tableThat(...answers);
    const pause = Promise.withResolvers<undefined>();
    const asleep = Promise.withResolvers<undefined>();
    const clock = {
      ...stage.clock,
      sleep: async () => {
        asleep.resolve(undefined);
        await pause.promise;
      },
    };
    const end = (): void => pause.resolve(undefined);
    return { ...stage, table: { ...stage.table, clock }, asleep: asleep.promise, end };
  }
  const works: Readonly<Record<string, (table: Table) => Promise<unknown>>> = {
    'a single call': (table) => getItem(table, key),
    'a transaction': (table) => transact(table, []),
  };

  it.each(Object.entries(works))('The next try of %s follows only after the pause', async (_what, work) => {
    const { table, inputs, asleep, end } = pausing(named('ThrottlingException'), {});
    const ended = work(table);
    await asleep;
    await new Promise(setImmediate);
    expect(inputs).toHaveLength(1);
    end();
    await ended;
    expect(inputs).toHaveLength(2);
  });
});

describe('The limits of the tries', () => {
  it.each([
    [9, 4_000, false],
    [9, 4_000.5, true],
    [10, 0, true],
    [1, 3_999, false],
  ])('After try %i and %d ms the tries are exhausted: %j', (attempt, elapsed, exhausted) => {
    const { table, clock } = tableThat({});
    clock.set(now + elapsed);
    expect(isExhausted(table, now, attempt)).toBe(exhausted);
  });

  it.each([
    [1, 0, 1],
    [1, 255, 1 + (255 / 256) * 30],
    [2, 128, 31],
    [4, 128, 121],
    [5, 128, 201],
    [6, 128, 201],
  ])('The pause after try %i with the random byte %i takes %d ms', (attempt, byte, millis) => {
    const { table } = tableThat({});
    expect(backoffMillis({ ...table, randomBytes: () => Uint8Array.of(byte) }, attempt)).toBe(millis);
  });
});

describe('A conditional write', () => {
  const refused = new ConditionalCheckFailedException({ message: 'refused', $metadata: {} });
  const parts = { UpdateExpression: 'REMOVE gone' };

  it('A conditional write is true when it was written, and false when its condition failed', async () => {
    const other = named('AccessDeniedException');
    expect([
      await updateIf(tableThat({}).table, key, parts),
      await updateIf(tableThat(refused).table, key, parts),
      await putNew(tableThat({}).table, key),
      await putNew(tableThat(refused).table, key),
    ]).toEqual([true, false, true, false]);
    await expect(updateIf(tableThat(other).table, key, parts)).rejects.toBe(other);
    await expect(putNew(tableThat(other).table, key)).rejects.toBe(other);
  });

  it('An update says whether it was written, was refused by an item, or met a busy table', async () => {
    const withItem = new ConditionalCheckFailedException({
      message: 'refused',
      $metadata: {},
      Item: { pk: { S: 'A' } },
    });
    const other = named('AccessDeniedException');
    expect([
      await tryUpdate(tableThat({}).table, key, parts),
      await tryUpdate(tableThat(withItem).table, key, parts),
      await tryUpdate(tableThat(refused).table, key, parts),
      await tryUpdate(tableThat(named('ThrottlingException')).table, key, parts),
    ]).toEqual([
      { kind: 'written' },
      { kind: 'refused', item: { pk: 'A' } },
      { kind: 'refused', item: undefined },
      { kind: 'busy' },
    ]);
    await expect(tryUpdate(tableThat(other).table, key, parts)).rejects.toBe(other);
  });
});

describe('Any work of a single call', () => {
  it('A call without an error is made once', async () => {
    const { table } = tableThat({});
    const calls: CallOptions[] = [];
    expect(await send(table, (options) => Promise.resolve(calls.push(options)))).toBe(1);
    expect(calls).toEqual([{}]);
  });
});

/** How often a transaction is sent again, and with which pauses. */
import { type CancellationReason, TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createDirectClient } from '../../../lab/simulation/aws/http-exchange.ts';
import { AwsError } from '../../../local/aws/aws-error.ts';
import { transactionCanceled } from '../../../local/dynamodb/refusals.ts';
import type { Table } from '../../../service/aws/dynamodb/table.ts';
import { transact, type TransactionOutcome } from '../../../service/aws/dynamodb/transaction.ts';
import { fakeClock, stub } from '../../api/fakes.ts';

const cancelled = (...codes: string[]): Error =>
  new TransactionCanceledException({
    message: 'cancelled',
    $metadata: { httpStatusCode: 400 },
    CancellationReasons: codes.map((Code): CancellationReason => ({ Code })),
  });
const named = (name: string): Error =>
  Object.assign(new Error(name), { name, $metadata: { httpStatusCode: 400 } });

const tableOf = (client: DynamoDBDocumentClient, more: Partial<Table> = {}): Table => ({
  client,
  name: 'table',
  clock: fakeClock(),
  randomBytes: (count) => new Uint8Array(count),
  ...more,
});
const oneUpdate = [
  { Update: { TableName: 'table', Key: { pk: 'A', sk: 'B' }, UpdateExpression: 'REMOVE gone' } },
];

/**
 * Sends a transaction whose tries get these answers, one after the other. The last answer holds for all
 * further tries. A try takes some milliseconds.
 */
async function run(answers: readonly (Error | 'done')[], { random = 0, takes = 5 } = {}) {
  const clock = fakeClock();
  let sent = 0;
  const client = stub<DynamoDBDocumentClient>({
    send: () => {
      const answer = answers[Math.min(sent, answers.length - 1)] ?? 'done';
      sent += 1;
      clock.set(clock.now() + takes);
      return answer === 'done' ? Promise.resolve({}) : Promise.reject(answer);
    },
  });
  const table = tableOf(client, { clock, randomBytes: (count) => new Uint8Array(count).fill(random) });
  return { outcome: await transact(table, [], 'token'), sleeps: clock.sleeps, sent };
}

const conflict = cancelled('None', 'TransactionConflict');
const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

describe('A transaction in conflict', () => {
  it('A transaction is sent again after growing pauses, and then it is overloaded', async () => {
    const { outcome, sleeps, sent } = await run([conflict], { random: 255 });
    expect(outcome).toEqual({ kind: 'overloaded', unclear: false });
    expect(sent).toBe(10);
    expect(sleeps).toHaveLength(sent - 1);
    expect([...sleeps].sort((a, b) => a - b)).toEqual(sleeps);
    expect(sleeps.map(Math.round)).toEqual([31, 61, 121, 240, 399, 399, 399, 399, 399]);
  });

  it('The whole pause is random, so that two transactions do not collide again', async () => {
    const [short, half, long] = [
      await run([conflict], { random: 0 }),
      await run([conflict], { random: 128 }),
      await run([conflict], { random: 255 }),
    ];
    expect(short.sleeps).toEqual(Array(9).fill(1));
    expect(sum(half.sleeps)).toBeGreaterThan(sum(short.sleeps));
    expect(sum(long.sleeps)).toBeGreaterThan(sum(half.sleeps));
  });

  it('A transaction with slow tries ends after four seconds, before the gateway ends the request', async () => {
    expect((await run([conflict], { takes: 2_001 })).sent).toBe(2);
    expect((await run([conflict], { takes: 1_999 })).sent).toBe(3);
  });
});

describe('The reasons for sending a transaction again', () => {
  it.each([
    ['a conflict', conflict],
    ['a throttled item', cancelled('ThrottlingError')],
    ['a throttled item of provisioned capacity', cancelled('None', 'ProvisionedThroughputExceeded')],
    ['a throttle of the whole call', named('ThrottlingException')],
  ])('A transaction is sent again after %s', async (_what, error) => {
    expect(await run([error, 'done'])).toMatchObject({ outcome: { kind: 'done' }, sent: 2 });
  });

  it.each([
    ['an item that is too large', cancelled('None', 'ItemCollectionSizeLimitExceeded')],
    ['a request that is malformed', cancelled('ValidationError', 'TransactionConflict')],
    ['a role without the grant', named('AccessDeniedException')],
  ])('A transaction is not sent again after %s, which is thrown', async (_what, error) => {
    await expect(run([error, 'done'])).rejects.toBe(error);
  });

  it('A transaction is not sent again after a failed condition, and each item has its refusal', async () => {
    const refused = await run([cancelled('None', 'ConditionalCheckFailed', 'TransactionConflict'), 'done']);
    expect(refused).toMatchObject({
      outcome: { kind: 'refused', refusals: [undefined, { item: undefined }, undefined] },
      sent: 1,
    });
  });
});

describe('A transaction that conflicts', () => {
  /** A table without a network, whose calls all get this answer. */
  const sending = (answer: Error | object, signal?: AbortSignal) => {
    const sent: unknown[] = [];
    const conflicts: unknown[] = [];
    const client = stub<DynamoDBDocumentClient>({
      send: (command: { readonly input: unknown }, options: unknown) => {
        sent.push([command.input, options]);
        return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
      },
    });
    const onConflict = (token: unknown): void => void conflicts.push(token);
    return { table: tableOf(client, { onConflict, ...(signal && { signal }) }), sent, conflicts };
  };

  it('A conflict is reported with the token of the transaction, once for each try', async () => {
    const { table, conflicts } = sending(conflict);
    await transact(table, [], 'token');
    expect(conflicts).toEqual(Array(10).fill('token'));
  });

  it.each(['ThrottlingError', 'ProvisionedThroughputExceeded', 'None'])(
    'A transaction that is cancelled by %s reports no conflict',
    async (code) => {
      const { table, conflicts, sent } = sending(cancelled(code));
      expect(await transact(table, [], 'token')).toEqual({ kind: 'overloaded', unclear: false });
      expect([conflicts, sent.length]).toEqual([[], 10]);
    },
  );

  it('A transaction in conflict may have reasons without a code', async () => {
    const error = new TransactionCanceledException({
      message: 'cancelled',
      $metadata: { httpStatusCode: 400 },
      CancellationReasons: [{}, { Code: 'TransactionConflict' }],
    });
    expect(await transact(sending(error).table, [])).toEqual({ kind: 'overloaded', unclear: false });
  });

  it('A transaction carries its token and the signal of the request, each only if there is one', async () => {
    const { signal } = new AbortController();
    const [bare, full] = [sending({}), sending({}, signal)];
    await transact(bare.table, []);
    await transact(full.table, [], 'token');
    expect([bare.sent, full.sent]).toEqual([
      [[{ TransactItems: [] }, {}]],
      [[{ TransactItems: [], ClientRequestToken: 'token' }, { abortSignal: signal }]],
    ]);
  });

  it('A transaction is not sent once the time of the request is used up', async () => {
    const { table, sent } = sending({}, AbortSignal.abort());
    expect(await transact(table, [], 'token')).toEqual({ kind: 'overloaded', unclear: false });
    expect(sent).toEqual([]);
  });

  it('A transaction is overloaded when the time of the request is used up during a try', async () => {
    const stop = new AbortController();
    const { table } = sending({}, stop.signal);
    const client = stub<DynamoDBDocumentClient>({
      send: () => {
        stop.abort();
        return Promise.reject(named('AbortError'));
      },
    });
    expect(await transact({ ...table, client }, [], 'token')).toEqual({ kind: 'overloaded', unclear: false });
  });
});

describe('A refusal after a try without an answer', () => {
  /**
   * The SDK makes both tries itself. The first one fails with this error, and a condition refuses the second
   * one.
   */
  async function refusedBehind(first: Error): Promise<TransactionOutcome> {
    const answers = [first, transactionCanceled([{ Code: 'ConditionalCheckFailed' }])];
    const client = createDirectClient(() => {
      const answer = answers.shift();
      if (answer) throw answer;
      return {};
    });
    return transact(tableOf(client), oneUpdate, 'token');
  }

  it('The refusal proves nothing when the first try timed out, because that try may still be carried out', async () => {
    const timedOut = Object.assign(new Error('exceeded'), { name: 'TimeoutError', code: 'ETIMEDOUT' });
    await expect(refusedBehind(timedOut)).rejects.toThrow('may still be carried out');
  });

  it('The refusal counts when the connection of the first try broke', async () => {
    const broken = Object.assign(new Error('socket hang up'), { name: 'TimeoutError', code: 'ECONNRESET' });
    expect(await refusedBehind(broken)).toMatchObject({ kind: 'refused' });
  });
});

describe('A transaction that the table keeps refusing', () => {
  afterEach(() => vi.useRealTimers());

  it.each(['ThrottlingException', 'ProvisionedThroughputExceededException'])(
    'A transaction that is refused by %s has surely written nothing',
    async (code) => {
      const client = createDirectClient(() => {
        throw new AwsError(code, 'simulated');
      });
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
      const outcome = transact(tableOf(client), oneUpdate, 'token');
      // The SDK waits seconds between its own tries of a throttled call.
      await vi.runAllTimersAsync();
      expect(await outcome).toEqual({ kind: 'overloaded', unclear: false });
    },
  );
});

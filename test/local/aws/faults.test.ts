import { setImmediate } from 'node:timers/promises';
import {
  BatchGetItemCommand,
  CreateTableCommand,
  DeleteItemCommand,
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  TransactionConflictException,
  TransactWriteItemsCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SFNClient, StartExecutionCommand } from '@aws-sdk/client-sfn';
import { describe, expect, test } from 'vitest';
import type { AwsCall } from '../../../local/aws/aws-call.ts';
import { AwsError } from '../../../local/aws/aws-error.ts';
import { createFaults } from '../../../local/aws/faults.ts';
import { type Fixture, startEndpoint, tableDefinition } from './endpoint-fixture.ts';

const TableName = tableDefinition.TableName;
const Item = { pk: { S: 'a' }, sk: { S: 'a' } };

/** Starts the local AWS with a table. The client `impatient` gives up a call that gets no answer. */
async function startTable(): Promise<Fixture & { client: DynamoDBClient; impatient: DynamoDBClient }> {
  const fixture = await startEndpoint();
  const client = new DynamoDBClient(fixture.as('ChargeRole'));
  const impatient = new DynamoDBClient({
    ...fixture.as('ChargeRole'),
    requestHandler: { requestTimeout: 300, throwOnRequestTimeout: true },
  });
  await client.send(new CreateTableCommand(structuredClone(tableDefinition)));
  return { ...fixture, client, impatient };
}

const put = (id = 'a'): PutItemCommand =>
  new PutItemCommand({ TableName, Item: { pk: { S: id }, sk: { S: 'a' } } });
const isThere = async (client: DynamoDBClient): Promise<boolean> =>
  (await client.send(new GetItemCommand({ TableName, Key: Item }))).Item !== undefined;

describe('a fault, as the SDK sees it', () => {
  test('The fault TransactionConflict cancels a transaction and names the conflict at its first item', async () => {
    const { client, faults } = await startTable();
    faults.set({ call: 'dynamodb:TransactWriteItems', error: 'TransactionConflict' });
    const transaction = new TransactWriteItemsCommand({
      TransactItems: [
        { Put: { TableName, Item } },
        { Put: { TableName, Item: { ...Item, sk: { S: 'b' } } } },
      ],
    });
    await expect(client.send(transaction)).rejects.toMatchObject({
      name: 'TransactionCanceledException',
      CancellationReasons: [{ Code: 'TransactionConflict' }, { Code: 'None' }],
    });
    expect(await isThere(client)).toBe(false);
    await client.send(transaction);
    expect(await isThere(client)).toBe(true);
  });

  test.each([
    ['Throttling', 'ThrottlingException', 400],
    ['ProvisionedThroughputExceeded', 'ProvisionedThroughputExceededException', 400],
    ['RequestLimitExceeded', 'RequestLimitExceeded', 400],
    ['AccessDenied', 'AccessDeniedException', 400],
    ['InternalServerError', 'InternalServerError', 500],
    ['ResourceNotFound', 'ResourceNotFoundException', 400],
    ['TransactionConflict', 'TransactionConflictException', 400],
  ])('The fault %s on DynamoDB reaches the SDK as %s', async (error, name, status) => {
    const { client, faults } = await startTable();
    faults.set({ call: 'dynamodb:PutItem', error });
    await expect(client.send(put())).rejects.toMatchObject({ name, $metadata: { httpStatusCode: status } });
    expect(await isThere(client)).toBe(false);
  });

  test.each(['put', 'update', 'delete'] as const)(
    'The fault TransactionConflict refuses a single %s with TransactionConflictException',
    async (write) => {
      const { client, faults } = await startTable();
      const writes = {
        put: () => client.send(put()),
        update: () => client.send(new UpdateItemCommand({ TableName, Key: Item })),
        delete: () => client.send(new DeleteItemCommand({ TableName, Key: Item })),
      };
      faults.set({ call: 'dynamodb:*', error: 'TransactionConflict' });
      const refused = await writes[write]().catch((error: unknown) => error);
      expect(refused).toBeInstanceOf(TransactionConflictException);
      expect(refused).toMatchObject({ $metadata: { httpStatusCode: 400, attempts: 1 } });
      expect(await isThere(client)).toBe(false);
      await writes[write]();
      expect(await isThere(client)).toBe(write !== 'delete');
    },
  );

  test('The fault TransactionConflict on dynamodb:* does not concern plain reads', async () => {
    const { client, faults } = await startTable();
    faults.set({ call: 'dynamodb:*', error: 'TransactionConflict', every: 1 });
    expect(await isThere(client)).toBe(false);
    expect(faults.list()).toMatchObject([{ seen: 0, struck: 0 }]);
  });

  test.each([
    ['hang', 'before', 'ETIMEDOUT', false],
    ['hang', 'after', 'ETIMEDOUT', true],
    ['Timeout', 'before', 'ECONNRESET', false],
    ['Timeout', 'after', 'ECONNRESET', true],
  ] as const)('The fault %s %s the effect of a call ends it as %s', async (error, when, code, effect) => {
    const { client, impatient, faults } = await startTable();
    faults.set({ call: 'dynamodb:PutItem', error, when });
    await expect(impatient.send(put())).rejects.toMatchObject({ code });
    await expect.poll(() => faults.list()).toEqual([]);
    await expect.poll(() => isThere(client)).toBe(effect);
  });

  test('A call that hangs with a number of seconds gets its answer after them', async () => {
    const { client, faults } = await startTable();
    faults.set({ call: 'dynamodb:PutItem', error: 'hang', seconds: 0.05 });
    await client.send(put());
    expect(await isThere(client)).toBe(true);
  });

  test('S3, Secrets Manager and Step Functions answer a fault with their own codes', async () => {
    const fixture = await startEndpoint();
    const settings = fixture.as('Role');
    fixture.faults.set({ call: 's3:PutObject', error: 'Throttling' });
    await expect(
      new S3Client(settings).send(new PutObjectCommand({ Bucket: 'images', Key: 'k', Body: 'x' })),
    ).rejects.toMatchObject({ name: 'SlowDown', $metadata: { httpStatusCode: 503 } });
    fixture.faults.set({ call: 'secretsmanager:*', error: 'InternalServerError' });
    await expect(
      new SecretsManagerClient(settings).send(new GetSecretValueCommand({ SecretId: 'k' })),
    ).rejects.toMatchObject({ name: 'InternalServiceError' });
    fixture.faults.set({ call: 'states:StartExecution', error: 'StateMachineDoesNotExist' });
    await expect(
      new SFNClient(settings).send(
        new StartExecutionCommand({
          stateMachineArn: 'arn:aws:states:us-east-1:000000000000:stateMachine:M',
        }),
      ),
    ).rejects.toMatchObject({ name: 'StateMachineDoesNotExist' });
  });

  test('The fault UnprocessedKeys returns all keys of a batch as not processed', async () => {
    const { client, faults } = await startTable();
    faults.set({ call: 'dynamodb:BatchGetItem', error: 'UnprocessedKeys' });
    const read = new BatchGetItemCommand({ RequestItems: { [TableName]: { Keys: [Item] } } });
    expect(await client.send(read)).toMatchObject({
      Responses: {},
      UnprocessedKeys: { [TableName]: { Keys: [Item] } },
    });
    expect((await client.send(read)).UnprocessedKeys).toEqual({});
  });
});

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

  test.each([
    [{ times: 2 }, [true, true, false]],
    [{ every: 3 }, [false, false, true, false, false, true]],
    [{ every: 2, times: 1 }, [false, true, false, false]],
  ])('A fault with %j strikes these calls: %j', async (members, expected) => {
    expect(await struck({ ...throttle, ...members }, times(expected.length))).toEqual(expected);
  });

  test('A fault with a share strikes that share of the calls', async () => {
    expect((await struck({ ...throttle, share: 0.3 }, times(100))).filter(Boolean)).toHaveLength(30);
  });

  test.each<[object, Partial<AwsCall>, Partial<AwsCall>]>([
    [{}, { operation: 'GetItem' }, {}],
    [{ call: 'dynamodb:*' }, { service: 's3' }, { operation: 'Query' }],
    [{ caller: 'Charge' }, { caller: 'ReadRole' }, {}],
    [{ match: 'ACCOUNT#b' }, {}, { input: { Item: { pk: 'ACCOUNT#b' } } }],
  ])('A fault with %j leaves the call %j alone, and strikes %j', async (members, other, own) => {
    expect(await struck({ ...throttle, ...members }, [call(other), call(own)])).toEqual([false, true]);
  });

  test.each([
    ['kill', 'before', ['killed']],
    ['kill', 'after', ['effect', 'killed']],
    ['hang', 'before', ['waits 2', 'effect']],
    ['hang', 'after', ['effect', 'waits 2']],
  ] as const)('The fault %s %s the effect of a call leads to %j', async (error, when, expected) => {
    const events: string[] = [];
    const faults = createFaults({
      kill: () => void events.push('killed'),
      wait: async (seconds) => {
        events.push(`waits ${seconds}`);
        await setImmediate();
      },
    });
    faults.set({ ...throttle, error, when, ...(error === 'hang' && { seconds: 2 }) });
    const answer = faults.apply(call(), async () => {
      events.push('effect');
      await setImmediate();
      return { ok: true };
    });
    if (error === 'hang') expect(await answer).toEqual({ ok: true });
    else await expect(answer).rejects.toThrow();
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

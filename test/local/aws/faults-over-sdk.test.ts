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
import { startEndpoint } from './endpoint-fixture.ts';
import type { Fixture } from './endpoint-fixture.ts';
import { tableDefinition } from './table.ts';

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
    ['before', false],
    ['after', true],
  ] as const)(
    'A call that hangs %s its effect gets no answer, and the connection stays open',
    async (when, effect) => {
      const { client, impatient, faults } = await startTable();
      faults.set({ call: 'dynamodb:PutItem', error: 'hang', when });
      await expect(impatient.send(put())).rejects.toMatchObject({ code: 'ETIMEDOUT' });
      await expect.poll(() => faults.list()).toEqual([]);
      await expect.poll(() => isThere(client)).toBe(effect);
    },
  );

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

  test('A connection that ends after the effect leaves the effect', async () => {
    const { client, faults } = await startTable();
    faults.set({ call: 'dynamodb:PutItem', error: 'Timeout', when: 'after' });
    await expect(client.send(put())).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect(await isThere(client)).toBe(true);
  });

  test('A connection that ends before the effect leaves no effect', async () => {
    const { client, faults } = await startTable();
    faults.set({ call: 'dynamodb:PutItem', error: 'Timeout' });
    await expect(client.send(put())).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect(await isThere(client)).toBe(false);
  });
});

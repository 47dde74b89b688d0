import {
  ConditionalCheckFailedException,
  CreateTableCommand,
  DeleteTableCommand,
  DescribeTableCommand,
  UpdateTableCommand,
} from '@aws-sdk/client-dynamodb';
import {
  BatchGetCommand,
  BatchWriteCommand,
  DeleteCommand,
  GetCommand,
  PutCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { describe, expect, test } from 'vitest';
import { account, startTable, TableName, withFive } from './dynamodb-fixture.ts';
import { tableDefinition } from './table.ts';

describe('tables', () => {
  test('A table and its index are active as soon as CreateTable answers', async () => {
    const { table } = await startTable();
    const { Table } = await table.send(new DescribeTableCommand({ TableName }));
    expect(Table?.TableStatus).toBe('ACTIVE');
    expect(Table?.GlobalSecondaryIndexes?.map((index) => [index.IndexName, index.IndexStatus])).toEqual([
      ['open-work', 'ACTIVE'],
    ]);
  });

  test('CreateTable refuses a table that exists', async () => {
    const { table } = await startTable();
    await expect(table.send(new CreateTableCommand(structuredClone(tableDefinition)))).rejects.toMatchObject({
      name: 'ResourceInUseException',
    });
  });

  test('A read of an unknown table is refused with ResourceNotFoundException', async () => {
    const { table } = await startTable();
    await expect(table.send(new GetCommand({ TableName: 'Other', Key: account }))).rejects.toMatchObject({
      name: 'ResourceNotFoundException',
    });
  });
});

describe('a deleted table', () => {
  test('a protected table is not deleted', async () => {
    const { table } = await startTable();
    await expect(table.send(new DeleteTableCommand({ TableName }))).rejects.toMatchObject({
      name: 'ValidationException',
      message:
        'Resource cannot be deleted as it is currently protected against deletion. Disable deletion protection first.',
    });
  });

  test('a deleted table is unknown to reads and writes, and a new table of its name has the new keys', async () => {
    const { table } = await startTable();
    await table.send(new PutCommand({ TableName, Item: account }));
    await table.send(new UpdateTableCommand({ TableName, DeletionProtectionEnabled: false }));
    await table.send(new DeleteTableCommand({ TableName }));
    await expect(table.send(new GetCommand({ TableName, Key: account }))).rejects.toMatchObject({
      name: 'ResourceNotFoundException',
    });
    const keyed = {
      AttributeDefinitions: [{ AttributeName: 'name', AttributeType: 'S' as const }],
      KeySchema: [{ AttributeName: 'name', KeyType: 'HASH' as const }],
    };
    await table.send(new CreateTableCommand({ TableName, BillingMode: 'PAY_PER_REQUEST', ...keyed }));
    await table.send(new PutCommand({ TableName, Item: { name: 'x' } }));
    expect((await table.send(new GetCommand({ TableName, Key: { name: 'x' } }))).Item).toEqual({ name: 'x' });
    await expect(table.send(new GetCommand({ TableName, Key: account }))).rejects.toMatchObject({
      name: 'ValidationException',
    });
  });
});

describe('single writes', () => {
  test('A failed condition answers with the present item', async () => {
    const { table } = await startTable();
    await table.send(new PutCommand({ TableName, Item: { ...account, available: 5 } }));
    const refused = table.send(
      new UpdateCommand({
        TableName,
        Key: account,
        UpdateExpression: 'SET available = available - :c',
        ConditionExpression: 'available >= :c',
        ExpressionAttributeValues: { ':c': 6 },
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      }),
    );
    await expect(refused).rejects.toMatchObject({ name: 'ConditionalCheckFailedException', Item: withFive });
  });

  test('A failed condition on a missing item answers without an item', async () => {
    const { table } = await startTable();
    const refused = await table
      .send(
        new DeleteCommand({
          TableName,
          Key: account,
          ConditionExpression: 'attribute_exists(pk)',
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
        }),
      )
      .catch((error: unknown) => error);
    if (!(refused instanceof ConditionalCheckFailedException)) throw new Error('the condition did not fail');
    expect(refused.Item).toBeUndefined();
  });

  test('Every part of an update reads the values from before the update', async () => {
    const { table } = await startTable();
    await table.send(new PutCommand({ TableName, Item: { ...account, available: 10 } }));
    const { Attributes } = await table.send(
      new UpdateCommand({
        TableName,
        Key: account,
        UpdateExpression: 'SET earlier = available ADD available :c, in_flight :one',
        ExpressionAttributeValues: { ':c': -3, ':one': 1 },
        ReturnValues: 'ALL_NEW',
      }),
    );
    expect(Attributes).toEqual({ ...account, earlier: 10, available: 7, in_flight: 1 });
  });

  test('ADD to an attribute that is not a number is refused', async () => {
    const { table } = await startTable();
    await table.send(new PutCommand({ TableName, Item: { ...account, available: 'ten' } }));
    const adding = new UpdateCommand({
      TableName,
      Key: account,
      UpdateExpression: 'ADD available :c',
      ExpressionAttributeValues: { ':c': 1 },
    });
    await expect(table.send(adding)).rejects.toMatchObject({
      name: 'ValidationException',
      message: 'An operand in the update expression has an incorrect data type',
    });
  });

  test('A batch read returns the items of a batch write', async () => {
    const { table } = await startTable();
    const items = ['b', 'c'].map((id) => ({ pk: `ACCOUNT#${id}`, sk: 'ACCOUNT', note: '' }));
    await table.send(
      new BatchWriteCommand({
        RequestItems: { [TableName]: items.map((Item) => ({ PutRequest: { Item } })) },
      }),
    );
    const read = await table.send(
      new BatchGetCommand({
        RequestItems: {
          [TableName]: { Keys: items.map(({ pk, sk }) => ({ pk, sk })), ConsistentRead: true },
        },
      }),
    );
    expect(read.Responses?.[TableName]).toHaveLength(2);
    expect(read.Responses?.[TableName]).toEqual(expect.arrayContaining(items));
  });
});

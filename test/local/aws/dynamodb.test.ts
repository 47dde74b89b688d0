import {
  CreateTableCommand,
  DeleteTableCommand,
  DescribeTableCommand,
  UpdateTableCommand,
} from '@aws-sdk/client-dynamodb';
import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, test } from 'vitest';
import { account, startTable, TableName } from './dynamodb-fixture.ts';
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

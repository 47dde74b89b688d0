import {
  CreateTableCommand,
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb';
import {
  BatchGetCommand,
  DeleteCommand,
  GetCommand,
  PutCommand,
  QueryCommand,
  TransactWriteCommand,
  type TransactWriteCommandInput,
} from '@aws-sdk/lib-dynamodb';
import { describe, expect, test } from 'vitest';
import { createDynamo } from '../../../local/aws/dynamodb-service.ts';
import { account, startMillis, startTable, tableDefinition, TableName } from './endpoint-fixture.ts';

describe('indexes', () => {
  const openWork = (dueBefore: number): QueryCommand =>
    new QueryCommand({
      TableName,
      IndexName: 'open-work',
      KeyConditionExpression: '#work = :open AND due_at < :now',
      ExpressionAttributeNames: { '#work': 'work' },
      ExpressionAttributeValues: { ':open': 'OPEN', ':now': dueBefore },
    });
  const creation = (id: number): Record<string, unknown> => ({
    pk: `CREATION#${id}`,
    sk: 'CREATION',
    work: 'OPEN',
    due_at: id,
    note: 'not in the index',
  });

  test('A sparse index follows every transaction, in key order, and holds only keys', async () => {
    const { table } = await startTable();
    for (const id of [30, 4, 200])
      await table.send(
        new TransactWriteCommand({ TransactItems: [{ Put: { TableName, Item: creation(id) } }] }),
      );
    await table.send(
      new TransactWriteCommand({
        TransactItems: [
          {
            Update: {
              TableName,
              Key: { pk: 'CREATION#30', sk: 'CREATION' },
              UpdateExpression: 'REMOVE #work',
              ExpressionAttributeNames: { '#work': 'work' },
            },
          },
        ],
      }),
    );
    const { Items } = await table.send(openWork(1000));
    expect(Items).toEqual(
      [4, 200].map((id) => ({ pk: `CREATION#${id}`, sk: 'CREATION', work: 'OPEN', due_at: id })),
    );
  });

  test('Under index-lag an index stays as it was when the fault was set', async () => {
    const { table, faults } = await startTable();
    await table.send(new PutCommand({ TableName, Item: creation(1) }));
    faults.set({ call: 'dynamodb:*', error: 'index-lag' });
    await table.send(new PutCommand({ TableName, Item: creation(2) }));
    await table.send(new DeleteCommand({ TableName, Key: { pk: 'CREATION#1', sk: 'CREATION' } }));
    expect((await table.send(openWork(10))).Items?.map((item): unknown => item.due_at)).toEqual([1]);
    expect(
      (await table.send(new GetCommand({ TableName, Key: { pk: 'CREATION#1', sk: 'CREATION' } }))).Item,
    ).toBeUndefined();
    faults.clear();
    expect((await table.send(openWork(10))).Items?.map((item): unknown => item.due_at)).toEqual([2]);
  });
});

describe('time to live', () => {
  test('Expiry deletes exactly the items whose time is over, also from the index', async () => {
    const { table, dynamo, clock } = await startTable();
    await table.send(
      new UpdateTimeToLiveCommand({
        TableName,
        TimeToLiveSpecification: { AttributeName: 'expires_at', Enabled: true },
      }),
    );
    const { TimeToLiveDescription } = await table.send(new DescribeTimeToLiveCommand({ TableName }));
    expect(TimeToLiveDescription).toEqual({ TimeToLiveStatus: 'ENABLED', AttributeName: 'expires_at' });
    const startSeconds = startMillis / 1000;
    await table.send(
      new PutCommand({
        TableName,
        Item: { pk: 'a', sk: 'a', work: 'OPEN', due_at: 1, expires_at: startSeconds + 60 },
      }),
    );
    await table.send(
      new PutCommand({ TableName, Item: { pk: 'b', sk: 'b', expires_at: startSeconds + 61 } }),
    );
    await table.send(new PutCommand({ TableName, Item: { pk: 'c', sk: 'c' } }));
    await table.send(
      new PutCommand({ TableName, Item: { pk: 'd', sk: 'd', expires_at: 'text is no time' } }),
    );
    expect(await dynamo.expireItems()).toBe(0);
    clock.nowMillis += 60_000;
    expect(await dynamo.expireItems()).toBe(1);
    const left = await table.send(
      new BatchGetCommand({
        RequestItems: { [TableName]: { Keys: ['a', 'b', 'c', 'd'].map((id) => ({ pk: id, sk: id })) } },
      }),
    );
    expect(left.Responses?.[TableName]?.map((item): unknown => item.pk).sort()).toEqual(['b', 'c', 'd']);
    const open = await table.send(
      new QueryCommand({
        TableName,
        IndexName: 'open-work',
        KeyConditionExpression: '#w = :open',
        ExpressionAttributeNames: { '#w': 'work' },
        ExpressionAttributeValues: { ':open': 'OPEN' },
      }),
    );
    expect(open.Items).toEqual([]);
  });
});

/** A charge of an account and the item of its creation, in one transaction. */
const charge = (creation: string, cost = 10): TransactWriteCommandInput => ({
  TransactItems: [
    {
      Update: {
        TableName,
        Key: account,
        UpdateExpression: 'SET available = available - :cost ADD in_flight :one',
        ConditionExpression: 'available >= :cost',
        ExpressionAttributeValues: { ':cost': cost, ':one': 1 },
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      },
    },
    {
      Put: {
        TableName,
        Item: { pk: `CREATION#${creation}`, sk: 'CREATION' },
        ConditionExpression: 'attribute_not_exists(pk)',
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      },
    },
  ],
});

describe('transactions', () => {
  test('Of two hundred concurrent charges on a wallet for three, exactly three succeed', async () => {
    const { table } = await startTable();
    await table.send(new PutCommand({ TableName, Item: { ...account, available: 35 } }));
    const outcomes = await Promise.allSettled(
      Array.from({ length: 200 }, (_, n) => table.send(new TransactWriteCommand(charge(String(n))))),
    );
    expect(outcomes.filter((outcome) => outcome.status === 'fulfilled')).toHaveLength(3);
    const { Item } = await table.send(new GetCommand({ TableName, Key: account, ConsistentRead: true }));
    expect(Item).toEqual({ ...account, available: 5, in_flight: 3 });
    const keys = outcomes.map((_, n) => ({ pk: `CREATION#${n}`, sk: 'CREATION' })).slice(0, 100);
    const read = await table.send(new BatchGetCommand({ RequestItems: { [TableName]: { Keys: keys } } }));
    expect(read.Responses?.[TableName]).toHaveLength(3);
  });

  test('A request token makes a repeated request charge once, for ten minutes', async () => {
    const { table, clock } = await startTable();
    await table.send(new PutCommand({ TableName, Item: { ...account, available: 100 } }));
    const onlyMoney = {
      ...charge('x'),
      TransactItems: charge('x').TransactItems?.slice(0, 1),
      ClientRequestToken: 'token-1',
    };
    await table.send(new TransactWriteCommand(onlyMoney));
    clock.nowMillis = startMillis + 599_999;
    await table.send(new TransactWriteCommand(onlyMoney));
    expect((await table.send(new GetCommand({ TableName, Key: account }))).Item?.available).toBe(90);
    clock.nowMillis = startMillis + 600_000;
    await table.send(new TransactWriteCommand(onlyMoney));
    expect((await table.send(new GetCommand({ TableName, Key: account }))).Item?.available).toBe(80);
  });

  test('The same token with another request is refused as a mismatch', async () => {
    const { table } = await startTable();
    await table.send(new PutCommand({ TableName, Item: { ...account, available: 100 } }));
    await table.send(new TransactWriteCommand({ ...charge('x'), ClientRequestToken: 'token-1' }));
    await expect(
      table.send(new TransactWriteCommand({ ...charge('y'), ClientRequestToken: 'token-1' })),
    ).rejects.toMatchObject({ name: 'IdempotentParameterMismatchException' });
  });

  test('A refused request can be repeated with the same token', async () => {
    const { table } = await startTable();
    const request = { ...charge('x'), ClientRequestToken: 'token-1' };
    await expect(table.send(new TransactWriteCommand(request))).rejects.toMatchObject({
      name: 'TransactionCanceledException',
    });
    await table.send(new PutCommand({ TableName, Item: { ...account, available: 10 } }));
    await table.send(new TransactWriteCommand(request));
    expect((await table.send(new GetCommand({ TableName, Key: account }))).Item?.available).toBe(0);
  });
});

describe('an answer of the one machine', () => {
  test('waits until everything that it may show is stored, also the answer of a read and a refusal', async () => {
    const kept: (() => void)[] = [];
    let isPending = false;
    const dynamo = createDynamo({
      now: () => startMillis,
      storage: {
        load: () => Promise.resolve(),
        append: () => {
          isPending = true;
        },
        settled: () => (isPending ? new Promise((resolve) => kept.push(resolve)) : undefined),
        close: () => Promise.resolve(),
      },
    });
    const answered: string[] = [];
    const ask = async (name: string, operation: string, input: Record<string, unknown>): Promise<void> => {
      await dynamo
        .service({ service: 'dynamodb', operation, caller: 'operator', input })
        .catch(() => undefined);
      answered.push(name);
    };
    const Item = { name: { S: 'x' } };
    const created = ask('create', 'CreateTable', {
      TableName,
      AttributeDefinitions: [{ AttributeName: 'name', AttributeType: 'S' }],
      KeySchema: [{ AttributeName: 'name', KeyType: 'HASH' }],
    });
    const calls = [
      created,
      ask('put', 'PutItem', { TableName, Item }),
      ask('get', 'GetItem', { TableName, Key: Item }),
      ask('refused', 'PutItem', {
        TableName,
        Item,
        ConditionExpression: 'attribute_not_exists(#n)',
        ExpressionAttributeNames: { '#n': 'name' },
      }),
    ];
    await new Promise(setImmediate);
    expect(answered).toEqual([]);
    expect(kept).toHaveLength(4);
    for (const end of kept) end();
    await Promise.all(calls);
    expect(answered).toEqual(['create', 'put', 'get', 'refused']);
    await dynamo.close();
  });
});

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

import {
  CreateTableCommand,
  DeleteTableCommand,
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  DynamoDBClient,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb';
import {
  BatchGetCommand,
  BatchWriteCommand,
  DeleteCommand,
  DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  QueryCommand,
  TransactGetCommand,
  TransactWriteCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import type { TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb';
import { describe, expect, test, vi } from 'vitest';
import { createDynamo } from '../../../local/aws/dynamodb/dynamo.ts';
import { startMillis, startEndpoint, temporaryFolder } from './endpoint-fixture.ts';
import type { Fixture } from './endpoint-fixture.ts';
import { tableDefinition } from './table.ts';

const TableName = tableDefinition.TableName;

async function startTable(): Promise<Fixture & { table: DynamoDBDocumentClient }> {
  const fixture = await startEndpoint();
  const client = new DynamoDBClient(fixture.as('operator'));
  await client.send(new CreateTableCommand(structuredClone(tableDefinition) as never));
  return { ...fixture, table: DynamoDBDocumentClient.from(client) };
}

const account = { pk: 'ACCOUNT#a', sk: 'ACCOUNT' };

/**
 * The account's item with 5 available, in DynamoDB's own JSON. The document client does not convert the item
 * of an error.
 */
const withFive = { pk: { S: 'ACCOUNT#a' }, sk: { S: 'ACCOUNT' }, available: { N: '5' } };

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

describe('tables', () => {
  test('a table and its index are active as soon as CreateTable answers', async () => {
    const { table } = await startTable();
    const { Table } = await table.send(new DescribeTableCommand({ TableName }));
    expect(Table?.TableStatus).toBe('ACTIVE');
    expect(Table?.GlobalSecondaryIndexes?.map((index) => [index.IndexName, index.IndexStatus])).toEqual([
      ['open-work', 'ACTIVE'],
    ]);
  });

  test('CreateTable refuses a table that exists', async () => {
    const { table } = await startTable();
    await expect(
      table.send(new CreateTableCommand(structuredClone(tableDefinition) as never)),
    ).rejects.toMatchObject({
      name: 'ResourceInUseException',
    });
  });

  test('a read of an unknown table is refused with ResourceNotFoundException', async () => {
    const { table } = await startTable();
    await expect(table.send(new GetCommand({ TableName: 'Other', Key: account }))).rejects.toMatchObject({
      name: 'ResourceNotFoundException',
    });
  });
});

describe('a deleted table', () => {
  test('a deleted table is unknown to all reads and writes, and a new table of its name has the new keys', async () => {
    const { table } = await startTable();
    await table.send(new PutCommand({ TableName, Item: account }));
    await table.send(new DeleteTableCommand({ TableName }));
    await vi.waitFor(
      () =>
        expect(table.send(new GetCommand({ TableName, Key: account }))).rejects.toMatchObject({
          name: 'ResourceNotFoundException',
        }),
      110_000,
    );
    const keyed = {
      AttributeDefinitions: [{ AttributeName: 'name', AttributeType: 'S' as const }],
      KeySchema: [{ AttributeName: 'name', KeyType: 'HASH' as const }],
    };
    await vi.waitFor(
      () => table.send(new CreateTableCommand({ TableName, BillingMode: 'PAY_PER_REQUEST', ...keyed })),
      110_000,
    );
    await table.send(new PutCommand({ TableName, Item: { name: 'x' } }));
    expect((await table.send(new GetCommand({ TableName, Key: { name: 'x' } }))).Item).toEqual({ name: 'x' });
    await expect(table.send(new GetCommand({ TableName, Key: account }))).rejects.toMatchObject({
      name: 'ValidationException',
    });
  });
});

describe('single writes', () => {
  test('a failed condition answers with the present item', async () => {
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

  test('a failed condition on a missing item answers without an item', async () => {
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
    expect(refused).toMatchObject({ name: 'ConditionalCheckFailedException' });
    expect((refused as { Item?: unknown }).Item).toBeUndefined();
  });

  test('every part of an update reads the values from before the update', async () => {
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

  test('a batch read returns the items of a batch write', async () => {
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

describe('transactions', () => {
  test('of two hundred concurrent charges on a wallet for three, exactly three succeed', async () => {
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

  test('a cancelled transaction gives a reason for each item, with the present item, and changes nothing', async () => {
    const { table } = await startTable();
    await table.send(new PutCommand({ TableName, Item: { ...account, available: 5 } }));
    await expect(table.send(new TransactWriteCommand(charge('x')))).rejects.toMatchObject({
      name: 'TransactionCanceledException',
      message:
        'Transaction cancelled, please refer cancellation reasons for specific reasons [ConditionalCheckFailed, None]',
      CancellationReasons: [
        { Code: 'ConditionalCheckFailed', Message: 'The conditional request failed', Item: withFive },
        { Code: 'None' },
      ],
    });
    const { Item } = await table.send(
      new GetCommand({ TableName, Key: { pk: 'CREATION#x', sk: 'CREATION' } }),
    );
    expect(Item).toBeUndefined();
  });

  test('an update that is impossible on its item cancels the transaction with a ValidationError', async () => {
    const { table } = await startTable();
    await expect(
      table.send(
        new TransactWriteCommand({
          TransactItems: [
            {
              Update: {
                TableName,
                Key: account,
                UpdateExpression: 'SET available = available - :c',
                ExpressionAttributeValues: { ':c': 1 },
              },
            },
          ],
        }),
      ),
    ).rejects.toMatchObject({ CancellationReasons: [{ Code: 'ValidationError' }] });
  });

  test('a failed condition check cancels the writes of the other items', async () => {
    const { table } = await startTable();
    const guarded = (pk: string): TransactWriteCommand =>
      new TransactWriteCommand({
        TransactItems: [
          { ConditionCheck: { TableName, Key: account, ConditionExpression: 'attribute_exists(pk)' } },
          { Put: { TableName, Item: { pk, sk: 'x' } } },
        ],
      });
    await expect(table.send(guarded('one'))).rejects.toMatchObject({
      CancellationReasons: [{ Code: 'ConditionalCheckFailed' }, { Code: 'None' }],
    });
    await table.send(new PutCommand({ TableName, Item: account }));
    await table.send(guarded('two'));
    const { Responses } = await table.send(
      new TransactGetCommand({
        TransactItems: ['one', 'two'].map((pk) => ({ Get: { TableName, Key: { pk, sk: 'x' } } })),
      }),
    );
    expect(Responses).toEqual([{}, { Item: { pk: 'two', sk: 'x' } }]);
  });

  test('a transaction with two operations on one item is refused', async () => {
    const { table } = await startTable();
    const twice = { Put: { TableName, Item: account } };
    await expect(
      table.send(
        new TransactWriteCommand({ TransactItems: [twice, { Delete: { TableName, Key: account } }] }),
      ),
    ).rejects.toMatchObject({
      name: 'ValidationException',
      message: 'Transaction request cannot include multiple operations on one item',
    });
  });

  test('a transaction with a key that does not fit the table is refused', async () => {
    const { table } = await startTable();
    await expect(
      table.send(new TransactWriteCommand({ TransactItems: [{ Delete: { TableName, Key: { pk: 'a' } } }] })),
    ).rejects.toMatchObject({
      name: 'ValidationException',
      message: 'The provided key element does not match the schema',
    });
  });

  test('a repeated request with the same token charges once within ten minutes and again after them', async () => {
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

  test('the same token with another request is refused as a mismatch', async () => {
    const { table } = await startTable();
    await table.send(new PutCommand({ TableName, Item: { ...account, available: 100 } }));
    await table.send(new TransactWriteCommand({ ...charge('x'), ClientRequestToken: 'token-1' }));
    await expect(
      table.send(new TransactWriteCommand({ ...charge('y'), ClientRequestToken: 'token-1' })),
    ).rejects.toMatchObject({ name: 'IdempotentParameterMismatchException' });
  });

  test('a refused request can be repeated with the same token', async () => {
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

  test('a sparse index follows every transaction, in key order, and holds only keys', async () => {
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

  test('the pages of a query hold every item once', async () => {
    const { table } = await startTable();
    for (let id = 0; id < 7; id += 1) await table.send(new PutCommand({ TableName, Item: creation(id) }));
    const seen: unknown[] = [];
    let from: Record<string, unknown> | undefined;
    do {
      const page = await table.send(
        new QueryCommand({ ...openWork(1000).input, Limit: 3, ExclusiveStartKey: from }),
      );
      seen.push(...(page.Items ?? []).map((item) => item.due_at as unknown));
      from = page.LastEvaluatedKey;
    } while (from !== undefined);
    expect(seen).toEqual([0, 1, 2, 3, 4, 5, 6]);
  });

  test('under index-lag an index answers as it was when the fault was set, and the table does not lag', async () => {
    const { table, faults } = await startTable();
    await table.send(new PutCommand({ TableName, Item: creation(1) }));
    faults.set({ call: 'dynamodb:*', error: 'index-lag' });
    await table.send(new PutCommand({ TableName, Item: creation(2) }));
    await table.send(new DeleteCommand({ TableName, Key: { pk: 'CREATION#1', sk: 'CREATION' } }));
    expect((await table.send(openWork(10))).Items?.map((item) => item.due_at as unknown)).toEqual([1]);
    expect(
      (await table.send(new GetCommand({ TableName, Key: { pk: 'CREATION#1', sk: 'CREATION' } }))).Item,
    ).toBeUndefined();
    faults.clear();
    expect((await table.send(openWork(10))).Items?.map((item) => item.due_at as unknown)).toEqual([2]);
  });
});

describe('time to live', () => {
  test('expiry deletes exactly the items whose time is over, also from the index', async () => {
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
    expect(left.Responses?.[TableName]?.map((item) => item.pk as unknown).sort()).toEqual(['b', 'c', 'd']);
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

describe('the folder of the tables', () => {
  test('the second database on one folder is refused with a hint at another Darkroom', async () => {
    const folder = await temporaryFolder();
    const first = createDynamo({ folder, now: () => startMillis });
    await first.service({ service: 'dynamodb', operation: 'ListTables', caller: 'operator', input: {} });
    const second = createDynamo({ folder, now: () => startMillis });
    await expect(
      second.service({ service: 'dynamodb', operation: 'ListTables', caller: 'operator', input: {} }),
    ).rejects.toThrow('is another Darkroom running on this folder?');
    await first.close();
  });
});

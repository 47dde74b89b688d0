import {
  BatchGetCommand,
  GetCommand,
  PutCommand,
  TransactGetCommand,
  TransactWriteCommand,
} from '@aws-sdk/lib-dynamodb';
import type { TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb';
import { describe, expect, test } from 'vitest';
import { account, startTable, TableName, withFive } from './dynamodb-fixture.ts';
import { createDynamo } from '../../../local/aws/dynamodb-service.ts';
import { startMillis } from './endpoint-fixture.ts';
import { tableDefinition } from './table.ts';

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

  test('A cancelled transaction gives a reason for each item and changes nothing', async () => {
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

  test('An update that its item does not allow cancels with a ValidationError', async () => {
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

  test('A failed condition check cancels the writes of the other items', async () => {
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

  test('A transaction with two operations on one item is refused', async () => {
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

  test('A transaction with a key that does not fit the table is refused', async () => {
    const { table } = await startTable();
    await expect(
      table.send(new TransactWriteCommand({ TransactItems: [{ Delete: { TableName, Key: { pk: 'a' } } }] })),
    ).rejects.toMatchObject({
      name: 'ValidationException',
      message: 'The provided key element does not match the schema',
    });
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

describe('a transaction that holds its items for some time', () => {
  test('refuses single writes and other transactions on them, and reads see the state before', async () => {
    const waiting: (() => void)[] = [];
    const dynamo = createDynamo({
      now: () => startMillis,
      transactionHoldMillis: 250,
      wait: (millis) => {
        expect(millis).toBe(250);
        return new Promise((resolve) => waiting.push(resolve));
      },
    });
    const call = (operation: string, input: Record<string, unknown>): Promise<Record<string, unknown>> =>
      dynamo.service({ service: 'dynamodb', operation, caller: 'operator', input });
    await call('CreateTable', { ...tableDefinition });
    await call('PutItem', { TableName, Item: withFive });
    const Key = { pk: withFive.pk, sk: withFive.sk };
    const update = {
      TableName,
      Key,
      UpdateExpression: 'ADD available :one',
      ExpressionAttributeValues: { ':one': { N: '1' } },
    };
    const first = call('TransactWriteItems', { TransactItems: [{ Update: update }] });
    await expect(call('UpdateItem', update)).rejects.toMatchObject({ code: 'TransactionConflictException' });
    await expect(call('TransactWriteItems', { TransactItems: [{ Update: update }] })).rejects.toMatchObject({
      code: 'TransactionCanceledException',
    });
    expect(await call('GetItem', { TableName, Key })).toEqual({ Item: withFive });
    expect(waiting).toHaveLength(1);
    waiting[0]?.();
    await first;
    await call('UpdateItem', update);
    expect(await call('GetItem', { TableName, Key })).toMatchObject({ Item: { available: { N: '7' } } });
    await dynamo.close();
  });
});

describe('an answer of the one machine', () => {
  test('waits until everything is kept that it may tell, also the answer of a read and a refusal', async () => {
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

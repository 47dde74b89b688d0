import { DescribeTimeToLiveCommand, UpdateTimeToLiveCommand } from '@aws-sdk/client-dynamodb';
import {
  BatchGetCommand,
  DeleteCommand,
  GetCommand,
  PutCommand,
  QueryCommand,
  TransactWriteCommand,
} from '@aws-sdk/lib-dynamodb';
import { describe, expect, test } from 'vitest';
import { startTable, TableName } from './dynamodb-fixture.ts';
import { startMillis } from './endpoint-fixture.ts';

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

  test('The pages of a query hold every item once', async () => {
    const { table } = await startTable();
    for (let id = 0; id < 7; id += 1) await table.send(new PutCommand({ TableName, Item: creation(id) }));
    const seen: unknown[] = [];
    let from: Record<string, unknown> | undefined;
    do {
      const page = await table.send(
        new QueryCommand({ ...openWork(1000).input, Limit: 3, ExclusiveStartKey: from }),
      );
      seen.push(...(page.Items ?? []).map((item): unknown => item.due_at));
      from = page.LastEvaluatedKey;
    } while (from !== undefined);
    expect(seen).toEqual([0, 1, 2, 3, 4, 5, 6]);
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

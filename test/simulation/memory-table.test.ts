import { createDynamo, type Dynamo } from '../../local/aws/dynamodb/dynamo.ts';
import { AwsError } from '../../local/aws/aws-error.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { tableDefinition } from '../adapters/dynamodb/table-definition.ts';
import { createStream } from '../../simulation/world/dice.ts';
import { createMemoryTable, type MemoryTable } from '../../simulation/table/memory-table.ts';
import { Refused } from '../../simulation/table/aws-refusal.ts';

const table = 'table';
const now = Date.UTC(2026, 10, 21);
let dynamo: Dynamo;

beforeAll(async () => {
  dynamo = createDynamo({ now: () => now });
  await ask('CreateTable', tableDefinition(table));
});
afterAll(() => dynamo.close());

function ask(operation: string, input: Record<string, unknown>): Promise<Record<string, unknown>> {
  return dynamo.service({ service: 'dynamodb', operation, input, caller: undefined } as unknown as Parameters<
    Dynamo['service']
  >[0]);
}

/**
 * The answer or the refusal of an engine. The message of a refusal is left out, because no code depends on
 * it.
 */
async function answerOf(work: () => unknown): Promise<unknown> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof AwsError) && !(error instanceof Refused)) throw error;
    const { CancellationReasons: reasons, ...fields } = error.fields as {
      CancellationReasons?: readonly { Code: string; Item?: unknown }[];
    };
    return {
      refused: error.code,
      ...fields,
      ...(reasons && { reasons: reasons.map(({ Code, Item }) => ({ Code, Item })) }),
    };
  }
}

type Draw = <Value>(values: readonly [Value, ...Value[]]) => Value;

/** Draws an operation of adapters/dynamodb. There are few keys and values, so that operations often meet. */
function operationOf(draw: Draw): [operation: string, input: Record<string, unknown>] {
  const Key = { pk: { S: draw(['A', 'B']) }, sk: { S: draw(['K#1', 'K#2', 'L#1']) } };
  const n = (): { N: string } => ({ N: String(draw([0, 1, 2, 5])) });
  const conditions = [
    {},
    { ConditionExpression: 'attribute_not_exists(pk)' },
    { ConditionExpression: 'attribute_exists(pk) AND attribute_not_exists(gone)' },
    {
      ConditionExpression: '#n >= :n AND places < :m',
      ExpressionAttributeNames: { '#n': 'amount' },
      ExpressionAttributeValues: { ':n': n(), ':m': n() },
    },
    {
      ConditionExpression: '(attribute_not_exists(#n) OR #n <= :n)',
      ExpressionAttributeNames: { '#n': 'amount' },
      ExpressionAttributeValues: { ':n': n() },
    },
    {
      ConditionExpression: 'attribute_not_exists(pk) OR #s <> :s OR amount <= :n',
      ExpressionAttributeNames: { '#s': 'stateName' },
      ExpressionAttributeValues: { ':s': { S: 'open' }, ':n': n() },
    },
    {
      ConditionExpression: '#s IN (:s, :t)',
      ExpressionAttributeNames: { '#s': 'stateName' },
      ExpressionAttributeValues: { ':s': { S: 'open' }, ':t': { S: 'done' } },
    },
    {
      ConditionExpression: 'innerMap.#s = :s',
      ExpressionAttributeNames: { '#s': 'stateName' },
      ExpressionAttributeValues: { ':s': { S: 'open' } },
    },
    {
      ConditionExpression: 'secretList[0].stateName = :s',
      ExpressionAttributeValues: { ':s': { S: 'open' } },
    },
  ] as const;
  const updates = [
    {
      UpdateExpression: 'SET amount = amount - :v, places = places + :v',
      ExpressionAttributeValues: { ':v': n() },
    },
    {
      UpdateExpression: 'ADD amount :v SET markedAt = if_not_exists(markedAt, :mark)',
      ExpressionAttributeValues: { ':v': n(), ':mark': n() },
    },
    {
      UpdateExpression: 'SET innerMap.#u = :v, dueAt = :due, openShard = :shard',
      ExpressionAttributeNames: { '#u': 'until' },
      ExpressionAttributeValues: { ':v': n(), ':due': n(), ':shard': { S: 'OPEN#1' } },
    },
    {
      UpdateExpression: 'SET #state = :v REMOVE dueAt, openShard, innerMap',
      ExpressionAttributeNames: { '#state': 'stateName' },
      ExpressionAttributeValues: { ':v': { S: draw(['open', 'done']) } },
    },
  ] as const;
  const Item = {
    ...Key,
    amount: n(),
    places: n(),
    stateName: { S: draw(['open', 'done']) },
    innerMap: { M: { stateName: { S: draw(['open', 'done']) } } },
    secretList: { L: [{ M: { stateName: { S: 'open' } } }] },
    openShard: { S: 'OPEN#1' },
    dueAt: n(),
    listing: { S: 'ALL' },
    listed: { S: `${Key.pk.S}${Key.sk.S}` },
  };
  const merged = (
    parts: Record<string, unknown>,
    condition: Record<string, unknown>,
  ): Record<string, unknown> => ({
    TableName: table,
    ...parts,
    ...condition,
    ...both('ExpressionAttributeNames', parts, condition),
    ...both('ExpressionAttributeValues', parts, condition),
  });
  const old = draw([{}, { ReturnValuesOnConditionCheckFailure: 'ALL_OLD' }]);
  const put = (): Record<string, unknown> => ({
    ...merged({ Item }, draw<Record<string, unknown>>(conditions)),
    ...old,
  });
  const update = (): Record<string, unknown> => ({
    ...merged({ Key, ...draw<Record<string, unknown>>(updates) }, draw<Record<string, unknown>>(conditions)),
    ...old,
  });
  switch (
    draw([
      'GetItem',
      'BatchGetItem',
      'PutItem',
      'UpdateItem',
      'UpdateItem',
      'Query',
      'Index',
      'TransactWriteItems',
      'TransactWriteItems',
    ])
  ) {
    case 'GetItem':
      return [
        'GetItem',
        {
          TableName: table,
          Key,
          ConsistentRead: true,
          ...draw([{}, { ProjectionExpression: 'secretList' }]),
        },
      ];
    case 'BatchGetItem':
      return ['BatchGetItem', { RequestItems: { [table]: { Keys: [Key], ConsistentRead: true } } }];
    case 'PutItem':
      return ['PutItem', put()];
    case 'UpdateItem':
      return ['UpdateItem', { ...update(), ReturnValues: draw(['NONE', 'ALL_NEW']) }];
    case 'Query':
      return [
        'Query',
        {
          TableName: table,
          ConsistentRead: true,
          KeyConditionExpression: 'pk = :pk AND begins_with(sk, :b)',
          ExpressionAttributeValues: { ':pk': Key.pk, ':b': { S: 'K#' } },
          ScanIndexForward: draw([true, false]),
          ...draw([{}, { Limit: 1 }]),
        },
      ];
    case 'Index':
      return [
        'Query',
        {
          TableName: table,
          IndexName: 'listing',
          KeyConditionExpression: 'listing = :l AND listed < :b',
          ExpressionAttributeValues: { ':l': { S: 'ALL' }, ':b': { S: 'BK#1' } },
          ScanIndexForward: draw([true, false]),
        },
      ];
    case 'TransactWriteItems': {
      const other = { ...Key, sk: { S: draw(['M#1', 'M#2']) } };
      const items = [
        { Update: update() },
        {
          Put: {
            TableName: table,
            Item: { ...Item, ...other, listed: { S: `${Key.pk.S}${other.sk.S}` } },
            ...draw([{}, { ConditionExpression: 'attribute_not_exists(pk)' }]),
          },
        },
      ];
      return [
        'TransactWriteItems',
        { TransactItems: items, ...draw([{}, { ClientRequestToken: draw(['one', 'two', 'three']) }]) },
      ];
    }
  }
  throw new Error('no such operation');
}

function both(
  name: string,
  left: Record<string, unknown>,
  right: Record<string, unknown>,
): Record<string, unknown> {
  const joined = Object.fromEntries([left[name], right[name]].flatMap((part) => Object.entries(part ?? {})));
  return Object.keys(joined).length > 0 ? { [name]: joined } : {};
}

describe('The table of the simulation', () => {
  it('The table answers 3,000 random operations as the local stand-in of DynamoDB does', async () => {
    const memory: MemoryTable = createMemoryTable({ now: () => now });
    const stream = createStream(7);
    const draw: Draw = (values) => values[Math.floor(stream() * values.length)] ?? values[0];
    const seen = new Map<string, number>();
    for (let round = 0; round < 3_000; round += 1) {
      const [operation, input] = operationOf(draw);
      const expected = await answerOf(() => ask(operation, structuredClone(input)));
      const found = await answerOf(() => memory.perform(operation, structuredClone(input)));
      expect(JSON.parse(JSON.stringify(found)), `${round}: ${operation} ${JSON.stringify(input)}`).toEqual(
        JSON.parse(JSON.stringify(expected)),
      );
      const isRefused = typeof expected === 'object' && expected !== null && 'refused' in expected;
      const outcome = `${operation} ${isRefused ? String(expected.refused) : 'ok'}`;
      seen.set(outcome, (seen.get(outcome) ?? 0) + 1);
    }
    // Each kind of write succeeded at least once and was refused at least once.
    expect([...seen.keys()]).toEqual(
      expect.arrayContaining([
        'PutItem ok',
        'PutItem ConditionalCheckFailedException',
        'UpdateItem ok',
        'UpdateItem ConditionalCheckFailedException',
        'UpdateItem ValidationException',
        'TransactWriteItems ok',
        'TransactWriteItems TransactionCanceledException',
        'TransactWriteItems IdempotentParameterMismatchException',
      ]),
    );
  });
});

/** An engine for tests, with a clock that a test sets and the tables of the comparison with DynamoDB Local. */
import { AwsError } from '../../../local/aws/aws-error.ts';
import { createTableEngine, type TableEngine } from '../../../local/dynamodb/engine.ts';
import { createNoStorage, type TableStorage } from '../../../local/dynamodb/storage.ts';

/** A table with a partition key, a sort key and an index of each kind of projection. */
export const mainTable = 'compared';
/** A table whose only key is a number. */
export const numberTable = 'compared-numbers';

const key = (hash: string, range?: string): object[] => [
  { AttributeName: hash, KeyType: 'HASH' },
  ...(range === undefined ? [] : [{ AttributeName: range, KeyType: 'RANGE' }]),
];
const types = (attributes: Readonly<Record<string, string>>): object[] =>
  Object.entries(attributes).map(([AttributeName, AttributeType]) => ({ AttributeName, AttributeType }));

/** The inputs of CreateTable. */
export const tables: readonly Record<string, unknown>[] = [
  {
    TableName: mainTable,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: types({ pk: 'S', sk: 'S', gh: 'S', gr: 'N' }),
    KeySchema: key('pk', 'sk'),
    GlobalSecondaryIndexes: [
      { IndexName: 'by-group', KeySchema: key('gh', 'gr'), Projection: { ProjectionType: 'KEYS_ONLY' } },
      {
        IndexName: 'by-group-and-key',
        KeySchema: key('gh', 'sk'),
        Projection: { ProjectionType: 'INCLUDE', NonKeyAttributes: ['x', 'y'] },
      },
      { IndexName: 'by-number', KeySchema: key('gr', 'gh'), Projection: { ProjectionType: 'ALL' } },
    ],
  },
  {
    TableName: numberTable,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: types({ n: 'N' }),
    KeySchema: key('n'),
  },
];

export const startMillis = Date.UTC(2026, 10, 21, 12);

export interface EngineFixture {
  readonly engine: TableEngine;
  readonly clock: { nowMillis: number };
}

export function startEngine(storage: TableStorage = createNoStorage(), historyMillis = 0): EngineFixture {
  const clock = { nowMillis: startMillis };
  const engine = createTableEngine({ now: () => clock.nowMillis, storage, historyMillis });
  for (const table of tables) engine.perform('CreateTable', table);
  return { engine, clock };
}

/** A key of the main table. */
export function keyOf(name: string): { pk: { S: string }; sk: { S: string } } {
  return { pk: { S: name }, sk: { S: 'ITEM' } };
}

/** An item of the main table. */
export function itemOf(name: string, amount: number): Record<string, object> {
  return { ...keyOf(name), amount: { N: String(amount) } };
}

/** The update that adds 1 to an item. */
export function adding(name: string): Record<string, unknown> {
  return {
    TableName: mainTable,
    Key: keyOf(name),
    UpdateExpression: 'ADD amount :one',
    ExpressionAttributeValues: { ':one': { N: '1' } },
  };
}

/** The code of the refusal, and the codes of its reasons. The code is `none` when nothing was refused. */
export function refusalOf(work: () => unknown): { code: string; reasons: unknown } {
  try {
    work();
  } catch (error) {
    if (!(error instanceof AwsError)) throw error;
    const reasons = error.fields.CancellationReasons as readonly { Code: string }[] | undefined;
    return { code: error.code, reasons: reasons?.map(({ Code }) => Code) };
  }
  return { code: 'none', reasons: undefined };
}

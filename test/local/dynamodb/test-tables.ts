/** The tables of the comparison with Amazon DynamoDB Local. */

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

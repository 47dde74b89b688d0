/**
 * Random operations of DynamoDB, right and wrong, on the tables of engine-fixture.ts. The file is long because it
 * has a generator for each operation.
 */
import { createStream } from '../../../lab/simulation/world/dice.ts';
import { mainTable, numberTable } from './engine-fixture.ts';
import {
  anyValue,
  attributes,
  condition,
  type Draw,
  type Json,
  mistyped,
  once,
  Placeholders,
  projection,
  update,
  value,
  wrongValue,
} from './random-expressions.ts';

/** An operation and its input. */
export interface Operation {
  readonly operation: string;
  readonly input: Json;
}

/** The operations of a seed. The same seed gives the same operations. */
export function* randomOperations(seed: number): Generator<Operation, never> {
  const stream = createStream(seed);
  const draw: Draw = (values) => values[Math.floor(stream() * values.length)] ?? values[0];
  for (;;) yield draw(kinds)(draw);
}

type Kind = (draw: Draw) => Operation;

/** A kind of operation, so many times. */
function times(count: number, operation: string, inputOf: (draw: Draw) => Json): [Kind, ...Kind[]] {
  const kind: Kind = (draw) => ({ operation, input: inputOf(draw) });
  return [kind, ...Array.from({ length: count - 1 }, () => kind)];
}

const kinds: readonly [Kind, ...Kind[]] = [
  ...times(1, 'GetItem', (draw) => capacity(draw, { ...table(draw), ...get(draw) })),
  ...times(3, 'PutItem', (draw) => capacity(draw, { ...table(draw), ...put(draw), ...returns(draw, 'Put') })),
  ...times(4, 'UpdateItem', (draw) => ({ ...table(draw), ...change(draw), ...returns(draw, 'Update') })),
  ...times(1, 'DeleteItem', (draw) => ({ ...table(draw), ...remove(draw), ...returns(draw, 'Delete') })),
  ...times(3, 'Query', queryOf),
  ...times(1, 'Scan', scanOf),
  ...times(1, 'BatchGetItem', batchGet),
  ...times(1, 'BatchWriteItem', batchWrite),
  ...times(2, 'TransactWriteItems', transactWrite),
  ...times(1, 'TransactGetItems', transactGet),
  onNumbers,
];

function table(draw: Draw): Json {
  if (!once(draw, 100)) return { TableName: mainTable };
  return draw<Json>([{ TableName: 'missing-table' }, { TableName: 'a b' }, {}]);
}

const hashes = ['A', 'B', 'C'] as const;
const ranges = ['1', '2', '3', '10', 'é', '😀'] as const;

function key(draw: Draw): Json {
  const pk = { S: draw(hashes) };
  const sk = { S: draw(ranges) };
  if (!once(draw, 50)) return { pk, sk };
  return draw<Json>([
    { pk },
    {},
    { pk, sk, x: { S: 'x' } },
    { pk, x: { S: 'x' } },
    { pk, sk: { N: '1' } },
    { pk: { S: '' }, sk },
    { pk, sk: { S: '' } },
    { pk, sk: wrongValue(draw) },
    { pk, sk: { S: 'x'.repeat(1025) } },
    { pk: { S: 'x'.repeat(2049) }, sk },
    { pk, sk: null },
  ]);
}

function item(draw: Draw): Json {
  const count = draw([0, 1, 2, 4, 6]);
  const more = Object.fromEntries(Array.from({ length: count }, () => [draw(attributes), anyValue(draw)]));
  return {
    ...key(draw),
    ...more,
    ...(once(draw, 2) && { gh: { S: draw(['g', 'h']) } }),
    ...(once(draw, 2) && { gr: { N: draw(['1', '2', '10', '-1', '2.5']) } }),
    ...(once(draw, 60) && draw<Json>([{ gh: { N: '1' } }, { gr: { S: '1' } }, { gh: { S: '' } }])),
    ...(once(draw, 150) && { a: { S: 'x'.repeat(410_000) } }),
    ...(once(draw, 100) && { many: { L: Array.from({ length: 20 }, () => value(draw)) } }),
  };
}

function capacity(draw: Draw, input: Json): Json {
  return once(draw, 6) ? { ...input, ReturnConsumedCapacity: draw(['TOTAL', 'INDEXES', 'NONE']) } : input;
}

function returns(draw: Draw, kind: 'Put' | 'Update' | 'Delete'): Json {
  const old = once(draw, 3)
    ? { ReturnValuesOnConditionCheckFailure: draw(['ALL_OLD', 'ALL_OLD', 'NONE']) }
    : {};
  if (once(draw, 100)) return { ReturnValues: 'WRONG' };
  if (once(draw, 150)) return { ReturnValuesOnConditionCheckFailure: 'WRONG' };
  if (kind !== 'Update')
    return once(draw, 80) ? { ReturnValues: 'ALL_NEW' } : { ReturnValues: draw(['NONE', 'ALL_OLD']), ...old };
  return { ReturnValues: draw(['NONE', 'ALL_OLD', 'ALL_NEW', 'UPDATED_OLD', 'UPDATED_NEW']), ...old };
}

/** The expressions of a request, with their placeholders. */
function expressions(draw: Draw, write: (holders: Placeholders) => Json): Json {
  const holders = new Placeholders(draw);
  const written = write(holders);
  return { ...written, ...holders.members() };
}

function conditional(draw: Draw, holders: Placeholders): Json {
  return once(draw, 2) ? { ConditionExpression: mistyped(draw, condition(holders)) } : {};
}

function get(draw: Draw): Json {
  const Key = { Key: key(draw) };
  const project = expressions(draw, (holders) =>
    once(draw, 2) ? { ProjectionExpression: mistyped(draw, projection(holders)) } : {},
  );
  const { ExpressionAttributeValues: _none, ...rest } = project;
  return { ...Key, ...rest, ...(once(draw, 2) && { ConsistentRead: true }) };
}

function put(draw: Draw): Json {
  return {
    ...(!once(draw, 200) && { Item: item(draw) }),
    ...expressions(draw, (holders) => conditional(draw, holders)),
  };
}

function change(draw: Draw): Json {
  return {
    ...(!once(draw, 200) && { Key: key(draw) }),
    ...expressions(draw, (holders) => ({
      ...(!once(draw, 40) && { UpdateExpression: mistyped(draw, update(holders)) }),
      ...conditional(draw, holders),
    })),
  };
}

function remove(draw: Draw): Json {
  return { Key: key(draw), ...expressions(draw, (holders) => conditional(draw, holders)) };
}

const indexes = ['by-group', 'by-group-and-key', 'by-number'] as const;
const keyValues = {
  pk: (draw: Draw) => ({ S: draw(hashes) }),
  sk: (draw: Draw) => ({ S: draw(ranges) }),
  gh: (draw: Draw) => ({ S: draw(['g', 'h']) }),
  gr: (draw: Draw) => ({ N: draw(['1', '2', '10', '2.50']) }),
};
type KeyName = keyof typeof keyValues;
const keysOf: Readonly<Record<'table' | (typeof indexes)[number], readonly [KeyName, KeyName]>> = {
  table: ['pk', 'sk'],
  'by-group': ['gh', 'gr'],
  'by-group-and-key': ['gh', 'sk'],
  'by-number': ['gr', 'gh'],
};

function queryOf(draw: Draw): Json {
  const index = once(draw, 2) ? draw(indexes) : undefined;
  const [hash, range] = keysOf[index ?? 'table'];
  const valueOf = (name: KeyName): Json => {
    if (once(draw, 50)) return draw<Json>([{ S: '' }, { N: '1' }, { BOOL: true }, { S: 'x' }]);
    return keyValues[name](draw);
  };
  return {
    ...table(draw),
    ...(index !== undefined && { IndexName: once(draw, 80) ? 'missing' : index }),
    ...expressions(draw, (holders) => ({
      ...(!once(draw, 150) && {
        KeyConditionExpression: mistyped(draw, keyCondition(holders, hash, range, valueOf)),
      }),
      ...(once(draw, 3) && { FilterExpression: mistyped(draw, condition(holders)) }),
      ...(once(draw, 5) && { ProjectionExpression: mistyped(draw, projection(holders)) }),
    })),
    ...(once(draw, 2) && { ScanIndexForward: draw([true, false]) }),
    ...(once(draw, 3) && { Limit: once(draw, 20) ? 0 : draw([1, 2, 3]) }),
    ...(once(draw, 8) && {
      Select: draw(['COUNT', 'ALL_ATTRIBUTES', 'ALL_PROJECTED_ATTRIBUTES', 'SPECIFIC_ATTRIBUTES']),
    }),
    ...(once(draw, 30) && { ConsistentRead: true }),
    ...(once(draw, 6) && { ExclusiveStartKey: startKey(draw, index) }),
  };
}

function keyCondition(
  holders: Placeholders,
  hash: KeyName,
  range: KeyName,
  valueOf: (name: KeyName) => Json,
): string {
  const { draw } = holders;
  const holder = (name: KeyName): string => holders.value(valueOf(name));
  const onHash = `${once(draw, 4) ? holders.name(hash) : hash} = ${holder(hash)}`;
  if (once(draw, 30))
    return draw<() => string>([
      () => `${hash} > ${holder(hash)}`,
      () => `${range} = ${holder(range)}`,
      () => `${onHash} OR ${range} = ${holder(range)}`,
      () => `NOT ${onHash}`,
      () => `${onHash} AND contains(${range}, ${holder(range)})`,
      () => `${onHash} AND ${range} IN (${holder(range)})`,
      () => `${onHash} AND ${range} <> ${holder(range)}`,
      () => `${onHash} AND ${range} > ${holder(range)} AND ${range} < ${holder(range)}`,
      () => `${onHash} AND x = ${holder(range)}`,
      () => `${hash}.x = ${holder(hash)}`,
      () => `${onHash} AND size(${range}) = ${holder(range)}`,
      () => `${onHash} AND attribute_exists(${range})`,
    ])();
  switch (draw(['none', 'none', 'compare', 'compare', 'between', 'begins', 'turned'])) {
    case 'compare':
      return `${onHash} AND ${range} ${draw(['=', '<', '<=', '>', '>='])} ${holder(range)}`;
    case 'between':
      return `${onHash} AND ${range} BETWEEN ${holder(range)} AND ${holder(range)}`;
    case 'begins':
      return `begins_with(${range}, ${holder(range)}) AND ${onHash}`;
    case 'turned':
      return `${holder(hash)} = ${hash}`;
    default:
      return onHash;
  }
}

function startKey(draw: Draw, index: string | undefined): Json {
  return {
    ...key(draw),
    ...(index !== undefined && { gh: { S: draw(['g', 'h']) }, gr: { N: draw(['1', '2']) } }),
  };
}

function scanOf(draw: Draw): Json {
  return {
    ...table(draw),
    ...(once(draw, 3) && { IndexName: draw(indexes) }),
    ...expressions(draw, (holders) => ({
      ...(once(draw, 2) && { FilterExpression: mistyped(draw, condition(holders)) }),
      ...(once(draw, 5) && { ProjectionExpression: mistyped(draw, projection(holders)) }),
    })),
    ...(once(draw, 8) && { Select: draw(['COUNT', 'ALL_ATTRIBUTES', 'SPECIFIC_ATTRIBUTES']) }),
    ...(once(draw, 30) &&
      draw<Json>([{ Limit: 0 }, { Segment: 0 }, { TotalSegments: 2 }, { Segment: 2, TotalSegments: 2 }])),
    ...(once(draw, 40) && { ConsistentRead: true }),
  };
}

function batchGet(draw: Draw): Json {
  const some = Array.from({ length: once(draw, 30) ? 101 : draw([1, 2, 3]) }, (_, n) =>
    n < 3 ? key(draw) : { pk: { S: 'A' }, sk: { S: `n${n}` } },
  );
  const { ExpressionAttributeValues: _none, ...project } = expressions(draw, (holders) =>
    once(draw, 3) ? { ProjectionExpression: mistyped(draw, projection(holders)) } : {},
  );
  const name = once(draw, 60) ? 'missing-table' : mainTable;
  return once(draw, 60)
    ? draw<Json>([{}, { RequestItems: {} }, { RequestItems: { [mainTable]: { Keys: [] } } }])
    : { RequestItems: { [name]: { Keys: some, ...project } } };
}

function batchWrite(draw: Draw): Json {
  const some = Array.from({ length: once(draw, 30) ? 26 : draw([1, 2, 3]) }, () =>
    once(draw, 3) ? { DeleteRequest: { Key: key(draw) } } : { PutRequest: { Item: item(draw) } },
  );
  const list = once(draw, 60) ? draw([[], [{}], [{ PutRequest: {} }]]) : some;
  return { RequestItems: { [once(draw, 60) ? 'missing-table' : mainTable]: list } };
}

function transactWrite(draw: Draw): Json {
  const old = (): Json => (once(draw, 2) ? { ReturnValuesOnConditionCheckFailure: 'ALL_OLD' } : {});
  const TableName = { TableName: mainTable };
  const one = (): Json => {
    if (once(draw, 80)) return draw<Json>([{}, { Put: {} }, { Wrong: {} }, { Put: { ...TableName } }]);
    return draw([
      (): Json => ({ Put: { ...TableName, ...put(draw), ...old() } }),
      (): Json => ({ Update: { ...TableName, ...change(draw), ...old() } }),
      (): Json => ({ Delete: { ...TableName, ...remove(draw), ...old() } }),
      (): Json => ({
        ConditionCheck: {
          ...TableName,
          Key: key(draw),
          ...expressions(draw, (holders) =>
            once(draw, 40) ? {} : { ConditionExpression: mistyped(draw, condition(holders)) },
          ),
          ...old(),
        },
      }),
    ])();
  };
  const count = draw([1, 2, 2, 3]);
  const many = Array.from({ length: 101 }, (_, n) => ({
    Delete: { ...TableName, Key: { pk: { S: 'A' }, sk: { S: `n${n}` } } },
  }));
  return {
    TransactItems: once(draw, 60) ? draw([[], many]) : Array.from({ length: count }, one),
    ...(once(draw, 4) && { ClientRequestToken: draw(['one', 'two', 'three', 'x'.repeat(37)]) }),
  };
}

function transactGet(draw: Draw): Json {
  const one = (): Json => ({
    Get: { TableName: once(draw, 60) ? 'missing-table' : mainTable, ...get(draw) },
  });
  return { TransactItems: Array.from({ length: draw([1, 2, 3]) }, one) };
}

/** Operations on a table whose only key is a number. */
function onNumbers(draw: Draw): Operation {
  const Key = { n: { N: draw(['0', '1', '1.0', '1e0', '-1', '100000000000000000000000000001', '0.1']) } };
  const TableName = numberTable;
  return draw<() => Operation>([
    () => ({
      operation: 'PutItem',
      input: { TableName, Item: { ...Key, a: value(draw) }, ReturnValues: 'ALL_OLD' },
    }),
    () => ({ operation: 'GetItem', input: { TableName, Key } }),
    () => ({ operation: 'DeleteItem', input: { TableName, Key, ReturnValues: 'ALL_OLD' } }),
    () => ({
      operation: 'UpdateItem',
      input: {
        TableName,
        Key,
        UpdateExpression: `SET a = ${draw(['n', 'if_not_exists(a, n)', 'n + n', 'a - n', 'a'])}`,
        ReturnValues: 'ALL_NEW',
      },
    }),
    () => ({
      operation: 'Query',
      input: {
        TableName,
        KeyConditionExpression: 'n = :n',
        ExpressionAttributeValues: { ':n': Key.n },
      },
    }),
  ])();
}

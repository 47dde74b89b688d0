/** Items between the form of lib-dynamodb and DynamoDB's own, for the few types that the adapters use. */
import type { Attribute, Item } from '../../../../local/dynamodb/attributes.ts';

type Plain = Readonly<Record<string, unknown>>;

export function marshalItem(item: Plain): Item {
  const marshalled: Record<string, Attribute> = {};
  for (const name in item) {
    const value = item[name];
    if (value !== undefined) marshalled[name] = marshalValue(value);
  }
  return marshalled;
}

function marshalValue(value: unknown): Attribute {
  switch (typeof value) {
    case 'string':
      return { S: value };
    case 'number':
      return { N: String(value) };
    case 'boolean':
      return { BOOL: value };
    case 'object':
      break;
    default:
      throw new Error(`no attribute for a ${typeof value}`);
  }
  if (value === null) return { NULL: true };
  if (Array.isArray(value))
    return { L: value.filter((one) => one !== undefined).map((one) => marshalValue(one)) };
  if (value instanceof Set) return marshalSet([...(value as Set<unknown>)]);
  if (value instanceof Uint8Array) return { B: Buffer.from(value).toString('base64') };
  return { M: marshalItem(value as Plain) };
}

function marshalSet(values: readonly unknown[]): Attribute {
  return typeof values[0] === 'number' ? { NS: values.map(String) } : { SS: values.map(String) };
}

function plainItem(item: Item): Record<string, unknown> {
  const plain: Record<string, unknown> = {};
  for (const name in item) {
    const value = item[name];
    if (value !== undefined) plain[name] = plainValue(value);
  }
  return plain;
}

function plainValue(value: Attribute): unknown {
  if (value.S !== undefined) return value.S;
  if (value.N !== undefined) return Number(value.N);
  if (value.BOOL !== undefined) return value.BOOL;
  if (value.NULL !== undefined) return null;
  if (value.M !== undefined) return plainItem(value.M);
  if (value.L !== undefined) return value.L.map(plainValue);
  if (value.SS !== undefined) return new Set(value.SS);
  if (value.NS !== undefined) return new Set(value.NS.map(Number));
  if (value.B !== undefined) return new Uint8Array(Buffer.from(value.B, 'base64'));
  throw new Error('an attribute of an unknown type');
}

/** The members of a request that hold an item, or a part of one. */
const itemMembers = ['Key', 'Item', 'ExpressionAttributeValues', 'ExclusiveStartKey'] as const;

export function inputOfPlain(operation: string, input: Plain): Plain {
  switch (operation) {
    case 'BatchGetItem':
      return {
        ...input,
        RequestItems: mapMembers(input['RequestItems'] as Plain, (request) => ({
          ...(request as Plain),
          Keys: ((request as Plain)['Keys'] as readonly Plain[]).map(marshalItem),
        })),
      };
    case 'TransactWriteItems':
      return {
        ...input,
        TransactItems: (input['TransactItems'] as readonly Plain[]).map((step) =>
          mapMembers(step, (one) => withItems(one as Plain)),
        ),
      };
    default:
      return withItems(input);
  }
}

function withItems(input: Plain): Plain {
  const marshalled: Record<string, unknown> = { ...input };
  for (const member of itemMembers)
    if (input[member] !== undefined) marshalled[member] = marshalItem(input[member] as Plain);
  return marshalled;
}

/** The items of an answer that lib-dynamodb returns as plain values. */
export function answerToPlain(operation: string, answer: object): Plain {
  const plain: Record<string, unknown> = { ...answer };
  for (const member of ['Item', 'Attributes', 'LastEvaluatedKey'] as const)
    if (plain[member] !== undefined) plain[member] = plainItem(plain[member] as Item);
  if (plain['Items'] !== undefined) plain['Items'] = (plain['Items'] as readonly Item[]).map(plainItem);
  if (operation !== 'BatchGetItem') return plain;
  plain['Responses'] = mapMembers(plain['Responses'] as Plain, (items) =>
    (items as readonly Item[]).map(plainItem),
  );
  plain['UnprocessedKeys'] = mapMembers((plain['UnprocessedKeys'] ?? {}) as Plain, (request) => ({
    ...(request as Plain),
    Keys: ((request as Plain)['Keys'] as readonly Item[]).map(plainItem),
  }));
  return plain;
}

function mapMembers(members: Plain, map: (value: unknown) => unknown): Record<string, unknown> {
  const mapped: Record<string, unknown> = {};
  for (const name in members) if (members[name] !== undefined) mapped[name] = map(members[name]);
  return mapped;
}

/** Requests and answers of the table between the form of lib-dynamodb and DynamoDB's own. */
import type { Item } from '../../../local/dynamodb/attributes.ts';
import { marshalItem, plainItem } from './plain-items.ts';

type Plain = Readonly<Record<string, unknown>>;

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

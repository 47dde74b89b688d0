/**
 * The differences between the engine and Amazon DynamoDB Local, each with its reason. Everything else must be
 * the same.
 */
import type { Json } from './random-expressions.ts';

/** An operation with both answers. A refusal has the members `code` and `message`. */
interface Answers {
  readonly operation: string;
  readonly input: Json;
  readonly ours: Json;
  readonly theirs: Json;
}

interface Difference {
  readonly reason: string;
  readonly applies: (answers: Answers) => boolean;
}

const keyMismatch = 'The provided key element does not match the schema';

/** Messages of DynamoDB Local, and the messages of the service for the same refusal. */
const wordings: readonly { readonly local: RegExp; readonly service: RegExp }[] = [
  {
    local: /^Cannot do operations on a non-existent table$/,
    service: /^Requested resource not found$/,
  },
  {
    local:
      /^(The number of conditions on the keys is invalid|One of the required keys was not given a value)$/,
    service: new RegExp(
      `^(${keyMismatch}|One or more parameter values were invalid: Missing the key \\w+ in the item)$`,
    ),
  },
  {
    local: /^One or more parameter values were invalid: Type mismatch for key$/,
    service: new RegExp(
      `^(${keyMismatch}|One or more parameter values were invalid: Type mismatch for key \\w+ expected: .*)$`,
    ),
  },
  {
    local: /^One or more parameter values were invalid: Type mismatch for Index Key$/,
    service: /^One or more parameter values were invalid: Type mismatch for Index Key \w+ Expected: .*$/,
  },
  {
    local: /java\.nio\.HeapByteBuffer/,
    service: /^Invalid \w+: The BETWEEN operator requires /,
  },
  {
    local: /^One or more parameter values are not valid\. A value specified for a secondary index key .*$/,
    service: /^One or more parameter values are not valid\. A value specified for a secondary index key .*$/,
  },
  {
    local: /^One or more parameter values are not valid\. A value specified for a secondary index key /,
    service: /^One or more parameter values are not valid\. A value specified for a secondary index key /,
  },
  { local: /^$/, service: /^Request token matches an existing request token/ },
];

function isWording(ours: unknown, theirs: unknown): boolean {
  return wordings.some(({ local, service }) => service.test(String(ours)) && local.test(String(theirs)));
}

interface Reason {
  readonly Code: string;
  readonly Message?: string;
}

const reasonsOf = ({ CancellationReasons: reasons = [] }: Json): readonly Reason[] =>
  reasons as readonly Reason[];

function isOverlap(message: unknown): boolean {
  return /^Invalid \w+: Two document paths (overlap|conflict) with each other;/.test(String(message));
}

/** Faults that only show when an update meets its item. */
const runtimeFaults: readonly string[] = [
  'The provided expression refers to an attribute that does not exist in the item',
  'An operand in the update expression has an incorrect data type',
  'The document path provided in the update expression is invalid for update',
  'Item size to update has exceeded the maximum allowed size',
];

/** Whether `whole` has everything that `part` has. */
function isPartOf(part: unknown, whole: unknown): boolean {
  if (typeof part !== 'object' || part === null) return part === whole;
  if (typeof whole !== 'object' || whole === null) return false;
  if (Array.isArray(part))
    return Array.isArray(whole) && part.every((one) => whole.some((other) => isPartOf(one, other)));
  return Object.entries(part).every(([name, value]) => isPartOf(value, Reflect.get(whole, name)));
}

/** Both engines refuse the request with ValidationException. The test limits how often this may happen. */
export const severalFaults = 'A request has several faults, and the engines name different ones.';

export const allowedDifferences: readonly Difference[] = [
  {
    reason: 'The engine names table, attribute and types in a refusal, as the service does.',
    applies: ({ ours, theirs }) =>
      ours['code'] === theirs['code'] && isWording(ours['message'], theirs['message']),
  },
  {
    reason:
      'The same for the reasons of a cancelled transaction; DynamoDB Local ends one sentence with a full stop.',
    applies: ({ ours, theirs }) => {
      const [mine, amazons] = [reasonsOf(ours), reasonsOf(theirs)];
      return (
        ours['message'] === theirs['message'] &&
        mine.length > 0 &&
        mine.every(({ Code, Message }, index) => {
          const other = amazons[index];
          const isSameText = (other?.Message ?? '').replace(/\.$/, '') === (Message ?? '');
          return Code === other?.Code && (isSameText || isWording(Message, other.Message));
        })
      );
    },
  },
  {
    reason:
      'An update that its item does not allow cancels a transaction with ValidationError, as the API reference of TransactWriteItems says. DynamoDB Local answers ValidationException.',
    applies: ({ ours, theirs }) =>
      theirs['code'] === 'ValidationException' &&
      runtimeFaults.includes(String(theirs['message'])) &&
      reasonsOf(ours).some(
        ({ Code, Message }) => Code === 'ValidationError' && Message === theirs['message'],
      ),
  },
  {
    reason: 'DynamoDB Local names a wrong second path, and another pair of paths when there are several.',
    applies: ({ ours, theirs }) => isOverlap(ours['message']) && isOverlap(theirs['message']),
  },
  {
    reason: 'DynamoDB Local fails on UPDATED_OLD and UPDATED_NEW without an update.',
    applies: ({ operation, input, theirs }) =>
      theirs['code'] === 'InternalFailure' &&
      operation === 'UpdateItem' &&
      input['UpdateExpression'] === undefined,
  },
  {
    reason:
      'UPDATED_OLD and UPDATED_NEW answer the parts that changed. DynamoDB Local answers the attributes around them, too.',
    applies: ({ operation, input, ours, theirs }) =>
      operation === 'UpdateItem' &&
      String(input['ReturnValues']).startsWith('UPDATED_') &&
      ours['code'] === undefined &&
      theirs['code'] === undefined &&
      isPartOf(ours['Attributes'] ?? {}, theirs['Attributes'] ?? {}),
  },
  {
    reason: 'Rows of an index with the same sort key come in any order, so a page may hold others of them.',
    applies: ({ operation, input, ours, theirs }) =>
      operation === 'Query' &&
      input['IndexName'] !== undefined &&
      ours['code'] === undefined &&
      theirs['code'] === undefined &&
      (input['ExclusiveStartKey'] !== undefined ||
        (input['Limit'] !== undefined && ours['ScannedCount'] === theirs['ScannedCount'])),
  },
  {
    reason:
      'A page that is as long as Limit has a LastEvaluatedKey. At the upper end of the range DynamoDB Local leaves it out, and refuses it as the start of the next page.',
    applies: ({ operation, input, ours, theirs }) => {
      const { LastEvaluatedKey: last, ...rest } = ours;
      const isLeftOut = last !== undefined && JSON.stringify(rest) === JSON.stringify(theirs);
      const isRefused =
        input['ExclusiveStartKey'] !== undefined &&
        ours['Count'] === 0 &&
        theirs['message'] === 'The provided starting key does not match the range key predicate';
      return operation === 'Query' && (isLeftOut || isRefused);
    },
  },
  {
    reason:
      'A filter sees what the index holds. In a scan of an index, DynamoDB Local lets it see the whole item.',
    applies: ({ operation, input, ours, theirs }) =>
      operation === 'Scan' &&
      input['IndexName'] !== undefined &&
      input['FilterExpression'] !== undefined &&
      ours['ScannedCount'] === theirs['ScannedCount'],
  },
  {
    reason:
      'The engine checks all of a transaction before it does any of it. DynamoDB Local looks at the token, the key values and the conditions first.',
    applies: ({ operation, ours, theirs }) =>
      operation.startsWith('Transact') &&
      ours['code'] === 'ValidationException' &&
      theirs['code'] !== undefined,
  },
  {
    reason:
      'A cancelled transaction has a reason for each of its items. DynamoDB Local may name fewer, or none.',
    applies: ({ ours, theirs }) =>
      ours['code'] === 'TransactionCanceledException' &&
      theirs['code'] === 'TransactionCanceledException' &&
      reasonsOf(theirs).length < reasonsOf(ours).length,
  },
  {
    reason: 'The engine looks for the table of a batch first, and DynamoDB Local at its keys and items.',
    applies: ({ operation, ours, theirs }) =>
      operation.startsWith('Batch') &&
      ours['code'] === 'ResourceNotFoundException' &&
      theirs['code'] === 'ValidationException',
  },
  {
    reason: severalFaults,
    applies: ({ ours, theirs }) =>
      theirs['code'] === 'ValidationException' &&
      (ours['code'] === 'ValidationException' ||
        reasonsOf(ours).some(({ Code }) => Code === 'ValidationError')),
  },
];

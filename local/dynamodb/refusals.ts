/** The engine's refusals, in DynamoDB's words. */
import { AwsError } from '../aws/aws-error.ts';
import type { Item } from './attributes.ts';

export function invalid(message: string): AwsError {
  return new AwsError('ValidationException', message);
}

/** The refusal of a key that does not fit its table. A transaction reports it as the reason of one of its items. */
export class KeyMismatch extends AwsError {
  constructor(message: string) {
    super('ValidationException', message);
  }
}

/** The refusal of JSON whose types are not those of the API. */
export function notSerialized(message = 'Unexpected token received from parser'): AwsError {
  return new AwsError('SerializationException', message);
}

export function tableNotFound(): AwsError {
  return new AwsError('ResourceNotFoundException', 'Requested resource not found');
}

/** The refusal of a write whose condition fails. `item` is the present item, if the request wants it. */
export function conditionFailed(item?: Item): AwsError {
  return new AwsError(
    'ConditionalCheckFailedException',
    'The conditional request failed',
    item === undefined ? {} : { fields: { Item: item } },
  );
}

/** Why one item of a transaction was refused. `None` when it was not. */
export interface CancellationReason {
  readonly Code: string;
  readonly Message?: string;
  /** The item before the transaction, if ReturnValuesOnConditionCheckFailure asked for it. */
  readonly Item?: Readonly<Record<string, unknown>>;
}

/** The refusal of a transaction. It has one reason for each item, in the request's order. */
export function transactionCanceled(reasons: readonly CancellationReason[]): AwsError {
  const codes = reasons.map(({ Code }) => Code).join(', ');
  return new AwsError(
    'TransactionCanceledException',
    `Transaction cancelled, please refer cancellation reasons for specific reasons [${codes}]`,
    { fields: { CancellationReasons: reasons } },
  );
}

/** The reason in a cancelled transaction for a refusal that one of its items would get alone. */
export function reasonOf({ code, message, fields }: AwsError): CancellationReason {
  const Code = code === 'ValidationException' ? 'ValidationError' : code.replace(/Exception$/, '');
  return { Code, Message: message, ...fields };
}

const conflictMessage = 'Transaction is ongoing for the item';

export const conflictReason: CancellationReason = { Code: 'TransactionConflict', Message: conflictMessage };

/** The refusal of a single write on an item that a transaction holds. */
export function transactionConflict(): AwsError {
  return new AwsError('TransactionConflictException', conflictMessage);
}

/** The refusal of a transaction whose token belongs to a transaction in flight. */
export function transactionInProgress(): AwsError {
  return new AwsError(
    'TransactionInProgressException',
    'The transaction with the given request token is already in progress.',
  );
}

export function tokenMismatch(): AwsError {
  return new AwsError(
    'IdempotentParameterMismatchException',
    'Request token matches an existing request token but the request parameters do not match',
  );
}

// The limits of DynamoDB.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ServiceQuotas.html

export const maxItemBytes = 400 * 1024;
/** The greatest size of the value of a partition key, and of a sort key. */
export const maxHashBytes = 2048;
export const maxRangeBytes = 1024;
/** How deep lists and maps may lie inside each other. */
export const maxNesting = 32;
export const maxExpressionBytes = 4096;
export const maxOperandsOfIn = 100;
/** The greatest number of items in a transaction, and their greatest size together. */
export const maxTransactionItems = 100;
export const maxTransactionBytes = 4 * 1024 * 1024;
/** How long a ClientRequestToken identifies its request after the request ended, and its greatest length. */
export const tokenLifetimeMillis = 600_000;
export const maxTokenLength = 36;
/** The greatest number of items in BatchGetItem and in BatchWriteItem. */
export const maxBatchGets = 100;
export const maxBatchWrites = 25;
/** Maximum size, in bytes, of the items in one answer of Query, Scan or BatchGetItem. */
export const maxPageBytes = 1024 * 1024;
export const maxBatchGetBytes = 16 * 1024 * 1024;

/**
 * The limits of DynamoDB.
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ServiceQuotas.html
 */

/** The greatest size of an item, with the names of its attributes. */
export const maxItemBytes = 400 * 1024;
/** The greatest size of the value of a partition key, and of a sort key. */
export const maxHashBytes = 2048;
export const maxRangeBytes = 1024;
/** How deep lists and maps may lie inside each other. */
export const maxNesting = 32;
/** The greatest length of an expression. */
export const maxExpressionBytes = 4096;
/** The greatest number of values beside IN. */
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
/** The bytes that one unit of reading and one unit of writing pay for. */
export const bytesOfReadUnit = 4096;
export const bytesOfWriteUnit = 1024;

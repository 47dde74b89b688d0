/** Errors of DynamoDB that mean: nothing was written, and the same call may succeed a moment later. */
const shed = new Set([
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
  'ThrottlingException',
  'TransactionConflictException',
  'TransactionInProgressException',
]);

export function isShed(error: unknown): boolean {
  return error instanceof Error && shed.has(error.name);
}

/** A 4xx: DynamoDB read the request and says that it wrote nothing, as when a permission is missing. */
export function isRefusal(error: unknown): error is Error {
  const status = statusOf(error);
  return status !== undefined && status >= 400 && status < 500;
}

/** The HTTP status that the SDK keeps beside an error; undefined when no answer came. */
function statusOf(error: unknown): number | undefined {
  const metadata = error instanceof Error && '$metadata' in error ? error.$metadata : undefined;
  if (typeof metadata !== 'object' || metadata === null || !('httpStatusCode' in metadata)) return undefined;
  return typeof metadata.httpStatusCode === 'number' ? metadata.httpStatusCode : undefined;
}

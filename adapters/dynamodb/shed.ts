/** Errors by which DynamoDB says that it wrote nothing and may be asked again. */
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

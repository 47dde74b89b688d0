/** DynamoDB was too busy until the retries were used up. Nothing was written. */
export class Overloaded extends Error {
  override readonly name = 'Overloaded';
}

/**
 * No answer says whether a write was made. The caller has to read the stored state before it repeats the
 * write.
 */
export class OutcomeUnknown extends Error {
  override readonly name = 'OutcomeUnknown';
}

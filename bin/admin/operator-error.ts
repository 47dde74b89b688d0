/** A command that cannot be carried out: one sentence, with what to do instead. */
export class OperatorError extends Error {
  override readonly name = 'OperatorError';
}

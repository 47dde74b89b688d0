/** A command cannot do its work. The message is one sentence that says what to do instead. */
export class OperatorError extends Error {
  override readonly name = 'OperatorError';
  /** Further members of the JSON error, for programs. */
  readonly details: Readonly<Record<string, unknown>>;
  constructor(message: string, details: Readonly<Record<string, unknown>> = {}, options?: ErrorOptions) {
    super(message, options);
    this.details = details;
  }
}

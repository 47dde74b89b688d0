/** A command that cannot be carried out: one sentence, with what to do instead. */
export class OperatorError extends Error {
  override readonly name = 'OperatorError';
  /** What a program gets beside the message. */
  readonly details: Readonly<Record<string, unknown>>;
  constructor(message: string, details: Readonly<Record<string, unknown>> = {}, options?: ErrorOptions) {
    super(message, options);
    this.details = details;
  }
}

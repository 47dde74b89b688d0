/** The parts of an error's answer besides its code and message. */
export interface AwsErrorOptions {
  /** The HTTP status. The default is 400. */
  readonly status?: number;
  /** Further members of the error's body, such as `CancellationReasons` or `Item`. */
  readonly fields?: Readonly<Record<string, unknown>>;
}

/**
 * A refusal in AWS's words. `code` is the exception's name in the API reference, such as
 * `ConditionalCheckFailedException`.
 */
export class AwsError extends Error {
  readonly code: string;
  readonly status: number;
  readonly fields: Readonly<Record<string, unknown>>;

  constructor(code: string, message: string, options: AwsErrorOptions = {}) {
    super(message);
    this.name = code;
    this.code = code;
    this.status = options.status ?? 400;
    this.fields = options.fields ?? {};
  }
}

/** The connection ends without an answer. The caller cannot know whether the call took effect. */
export class AnswerLost extends Error {
  // The SDK's retry rules treat this code as a transient fault, also where no socket is between.
  readonly code = 'ECONNRESET';
  override readonly name = 'TimeoutError';

  constructor() {
    super('the connection was closed without an answer');
  }
}

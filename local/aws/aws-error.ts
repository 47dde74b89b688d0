/** What an error's answer carries besides its code and message. */
export interface AwsErrorOptions {
  /** HTTP status; 400 unless told. */
  readonly status?: number;
  /** Further members of the error's body: `CancellationReasons`, `Item`. */
  readonly fields?: Readonly<Record<string, unknown>>;
}

/** A refusal as AWS words it. `code` is the exception's name in the API reference (`ConditionalCheckFailedException`). */
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

/** The connection ends without an answer: the caller cannot know whether its call took effect. */
export class AnswerLost extends Error {
  // The SDK's retry rules know this code as a transient fault, also where no socket lies between.
  readonly code = 'ECONNRESET';
  override readonly name = 'TimeoutError';

  constructor() {
    super('the connection was closed without an answer');
  }
}

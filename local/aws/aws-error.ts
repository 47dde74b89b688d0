/** A refusal in AWS's words: `code` is the exception's name, and `fields` are further members, such as `Item`. */
export class AwsError extends Error {
  readonly code: string;
  readonly status: number;
  readonly fields: Readonly<Record<string, unknown>>;

  constructor(
    code: string,
    message: string,
    { status = 400, fields = {} }: { readonly status?: number; readonly fields?: AwsError['fields'] } = {},
  ) {
    super(message);
    this.name = code;
    this.code = code;
    this.status = status;
    this.fields = fields;
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

/**
 * The refusals of the API (docs/api.md). Handlers throw or return a Problem, and
 * service/api/answer.ts turns it into the HTTP answer.
 */

/** The HTTP status of each code. */
export const problemStatus = {
  ERR_INVALID_REQUEST: 400,
  ERR_CONTENT_POLICY: 400,
  ERR_API_KEY_INVALID: 401,
  ERR_INSUFFICIENT_BALANCE: 402,
  ERR_ACCOUNT_DISABLED: 403,
  ERR_API_SUSPENDED: 403,
  ERR_MODEL_NOT_FOUND: 404,
  ERR_NOT_FOUND: 404,
  ERR_RATE_LIMIT: 429,
  ERR_QUOTA_EXCEEDED: 429,
  ERR_INTERNAL: 500,
  ERR_INPUT_FETCH_FAILED: 502,
  ERR_GENERATION_FAILED: 502,
  ERR_PROVIDER_UNAVAILABLE: 503,
} as const;

export type ProblemCode = keyof typeof problemStatus;

/** The codes that only the portal's API has. */
export const portalProblemStatus = {
  ERR_SESSION_REQUIRED: 401,
  ERR_FORBIDDEN: 403,
  ERR_CONFLICT: 409,
} as const;

export type PortalProblemCode = keyof typeof portalProblemStatus;
const everyStatus = { ...problemStatus, ...portalProblemStatus };

export interface FieldError {
  /** "prompt" or "image_urls[0]"; "body" for the whole body; or the name of a header. */
  readonly field: string;
  readonly code: string;
  readonly message: string;
}

/** A refusal, with everything that its answer shows. */
export class Problem extends Error {
  readonly code: ProblemCode | PortalProblemCode;
  readonly details: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;
  /** The text of the plain form of a failed authentication. Absent: the plain form shows details.reason. */
  readonly plainDetail: string | undefined;
  constructor(
    code: ProblemCode | PortalProblemCode,
    message: string,
    details: Readonly<Record<string, unknown>> = {},
    headers: Readonly<Record<string, string>> = {},
    plainDetail?: string,
  ) {
    super(message);
    this.name = 'Problem';
    this.code = code;
    this.details = details;
    this.headers = headers;
    this.plainDetail = plainDetail;
  }

  get status(): number {
    return everyStatus[this.code];
  }
}

/** A copy of the refusal with additional headers. */
export function withHeaders(
  { code, message, details, headers }: Problem,
  more: Readonly<Record<string, string>>,
): Problem {
  return new Problem(code, message, details, { ...headers, ...more });
}

/** 400 with the wrong fields. The message names the first one, for a client that shows only the message. */
export function invalidRequest(errors: readonly FieldError[]): Problem {
  const first = errors[0];
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more, see details.errors)` : '';
  const message = first ? `${first.field}: ${first.message}${more}` : 'The request is not valid.';
  return new Problem('ERR_INVALID_REQUEST', message, { errors });
}

/** A refusal that ends by itself. Its Retry-After is in whole seconds, at least 1. */
export function retryLater(
  code: Problem['code'],
  message: string,
  details: Readonly<Record<string, unknown>>,
  afterSeconds: number,
): Problem {
  return new Problem(code, message, details, { 'retry-after': String(Math.max(1, Math.ceil(afterSeconds))) });
}

/** The refusals of the API (docs/api.md). Handlers throw a Problem; service/api/answer.ts answers it. */
import type * as z from 'zod';

export const problemStatus = {
  ERR_INVALID_REQUEST: 400,
  ERR_CONTENT_POLICY: 400,
  ERR_API_KEY_INVALID: 401,
  ERR_INSUFFICIENT_BALANCE: 402,
  ERR_ACCOUNT_DISABLED: 403,
  ERR_API_SUSPENDED: 403,
  ERR_FORBIDDEN: 403,
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

export const portalProblemStatus = {
  ERR_SESSION_REQUIRED: 401,
  ERR_CONFLICT: 409,
} as const;

export type PortalProblemCode = keyof typeof portalProblemStatus;
const everyStatus = { ...problemStatus, ...portalProblemStatus };

/** What is wrong with a field, for programs. service/document/schemas/refusals.ts says what each code means. */
export type ClientFieldErrorCode =
  | 'required'
  | 'unknown_field'
  | 'unknown_parameter'
  | 'invalid_type'
  | 'invalid_value'
  | 'invalid_json'
  | 'invalid_encoding'
  | 'too_deep'
  | 'too_short'
  | 'too_long'
  | 'too_small'
  | 'too_big'
  | 'too_many'
  | 'refused_target'
  | 'bucket_refused'
  | 'mismatch'
  | 'exceeded'
  | 'too_large'
  | 'too_many_pixels'
  | 'invalid_size'
  | 'unsupported_type'
  | 'upload_not_usable'
  | 'unsupported_parameter'
  | 'unsupported_value'
  | 'not_taken';
/** Also the codes that only the OpenAI form, the operator API and the portal use. */
export type FieldErrorCode =
  | ClientFieldErrorCode
  | 'invalid'
  | 'invalid_form'
  | 'not_allowed'
  | 'out_of_range'
  | 'over_own_cap'
  | 'taken'
  | 'unknown_model'
  | 'unknown_provider';

export interface FieldError {
  /** "prompt" or "image_urls[0]"; "body" for the whole body; or the name of a header. */
  readonly field: string;
  readonly code: FieldErrorCode;
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

export function withDetails(
  { code, message, details, headers }: Problem,
  more: Readonly<Record<string, unknown>>,
): Problem {
  return new Problem(code, message, { ...details, ...more }, headers);
}

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

/**
 * On a refusal that waiting does not end, because somebody has to act first. Libraries that know this header, such as
 * those of OpenAI and our own, do not send the request again.
 */
export const neverRetry = { 'x-should-retry': 'false' } as const;

/**
 * A refusal that ends by itself, unless its limit is 0. Its Retry-After is in whole seconds, at least 1. For
 * a refusal that somebody has to end, Retry-After is the interval of polling: add neverRetry.
 */
export function retryLater(
  code: Problem['code'],
  message: string,
  details: Readonly<Record<string, unknown>>,
  afterSeconds: number,
): Problem {
  return new Problem(code, message, details, {
    'retry-after': String(Math.max(1, Math.ceil(afterSeconds))),
    ...(details['limit'] === 0 && neverRetry),
  });
}

type Issue = z.core.$ZodIssue;

/** A path in a body in the notation of the API: image_urls[0], metadata.order. */
function fieldAt(path: readonly PropertyKey[]): string {
  if (path.length === 0) return 'body';
  return (
    path
      .map((step, index) =>
        typeof step === 'number' ? `[${step}]` : `${index === 0 ? '' : '.'}${String(step)}`,
      )
      .join('')
      // A key may hold half of a surrogate pair, which UTF-8 cannot express.
      .toWellFormed()
  );
}

function isMissing(issue: Issue): boolean {
  return (issue.code === 'invalid_type' || issue.code === 'invalid_value') && issue.input === undefined;
}

function describe(issue: Issue): Omit<FieldError, 'field'> {
  switch (issue.code) {
    case 'invalid_type':
      return isMissing(issue)
        ? { code: 'required', message: 'required' }
        : { code: 'invalid_type', message: `must be ${article(issue.expected)}` };
    case 'too_big':
      return {
        code: issue.origin === 'string' ? 'too_long' : issue.origin === 'array' ? 'too_many' : 'too_big',
        message: limit('at most', issue.maximum, issue.origin),
      };
    case 'too_small':
      return {
        code: issue.origin === 'string' ? 'too_short' : 'too_small',
        message: limit('at least', issue.minimum, issue.origin),
      };
    case 'invalid_value':
      if (isMissing(issue)) return { code: 'required', message: 'required' };
      return {
        code: 'invalid_value',
        message: `must be one of ${issue.values.map((value) => JSON.stringify(value)).join(', ')}`,
      };
    case 'custom':
      return { code: (issue.params?.['code'] ?? 'invalid') as FieldErrorCode, message: issue.message };
    default:
      return { code: 'invalid', message: issue.message };
  }
}

function limit(bound: string, value: number | bigint, origin: string): string {
  const unit = origin === 'string' ? ' characters' : origin === 'array' ? ' items' : '';
  return `${bound} ${value}${unit}`;
}

function article(type: string): string {
  return `${/^[aeio]/.test(type) ? 'an' : 'a'} ${type}`;
}

export function fieldErrors(issues: readonly Issue[]): FieldError[] {
  return onePerField(issues.flatMap(errorsOf));
}

/** Keeps the first error of each field: after a wrong type zod checks on, which misleads. */
export function onePerField(errors: readonly FieldError[]): FieldError[] {
  const firsts = new Map<string, FieldError>();
  for (const error of errors) if (!firsts.has(error.field)) firsts.set(error.field, error);
  return [...firsts.values()];
}

function errorsOf(issue: Issue): FieldError[] {
  if (issue.code !== 'unrecognized_keys') return [{ field: fieldAt(issue.path), ...describe(issue) }];
  return issue.keys.map((key) => ({
    field: fieldAt([...issue.path, key]),
    code: 'unknown_field',
    message: 'not a field of this request',
  }));
}

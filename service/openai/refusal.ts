/** Refusals in the form of the OpenAI API. */
import type { FailureName } from '../contract/failures.ts';
import { type FieldError, Problem } from '../values/problem.ts';

/** The errors of the OpenAI-shaped endpoint: status, type and code. Libraries read `x-should-retry`. */
interface ErrorRow {
  readonly status: number;
  readonly type:
    | 'invalid_request_error'
    | 'insufficient_quota'
    | 'permission_error'
    | 'rate_limit_error'
    | 'server_error';
  readonly retry: boolean;
}

const wrong = { status: 400, type: 'invalid_request_error', retry: false } as const;
const noMoney = { status: 402, type: 'insufficient_quota', retry: false } as const;
const notAllowed = { status: 403, type: 'permission_error', retry: false } as const;
const notThere = { status: 404, type: 'invalid_request_error', retry: false } as const;
const unavailable = { status: 503, type: 'server_error', retry: true } as const;

export const errorRows = {
  err_invalid_request: wrong,
  unsupported_value: wrong,
  unsupported_parameter: wrong,
  // LiteLLM makes its ContentPolicyViolationError only of this pair of type and code.
  content_policy_violation: wrong,
  invalid_image: wrong,
  invalid_api_key: { status: 401, type: 'invalid_request_error', retry: false },
  // With 429, which OpenAI answers here, the libraries would send the request again.
  insufficient_balance: noMoney,
  daily_budget_exceeded: noMoney,
  monthly_budget_exceeded: noMoney,
  total_budget_exceeded: noMoney,
  user_budget_exceeded: noMoney,
  account_disabled: notAllowed,
  api_suspended: notAllowed,
  forbidden: notAllowed,
  model_not_found: notThere,
  not_found: notThere,
  cancelled: { status: 409, type: 'invalid_request_error', retry: false },
  conflict: { status: 409, type: 'invalid_request_error', retry: false },
  request_too_large: { status: 413, type: 'invalid_request_error', retry: false },
  rate_limit_exceeded: { status: 429, type: 'rate_limit_error', retry: true },
  // A library waits for seconds at most, and a block lasts for minutes.
  address_blocked: { status: 429, type: 'rate_limit_error', retry: false },
  internal_error: { status: 500, type: 'server_error', retry: true },
  input_fetch_failed: { status: 502, type: 'server_error', retry: true },
  generation_failed: { status: 502, type: 'server_error', retry: true },
  provider_unavailable: unavailable,
  overloaded: unavailable,
  generation_timeout: { status: 504, type: 'server_error', retry: true },
  still_rendering: { status: 504, type: 'server_error', retry: true },
} as const satisfies Readonly<Record<string, ErrorRow>>;

export type ErrorCode = keyof typeof errorRows;

interface ProblemRow {
  readonly code: ErrorCode;
  /** Other codes, by details.reason. */
  readonly reasons?: Readonly<Record<string, ErrorCode>>;
  /** The field that the refusal is about, where the refusal itself does not name fields. */
  readonly param?: string;
}

const problemRows: Readonly<Record<Problem['code'], ProblemRow>> = {
  ERR_INVALID_REQUEST: { code: 'err_invalid_request' },
  ERR_CONTENT_POLICY: { code: 'content_policy_violation' },
  ERR_API_KEY_INVALID: { code: 'invalid_api_key' },
  ERR_INSUFFICIENT_BALANCE: {
    code: 'insufficient_balance',
    reasons: {
      daily_budget_exceeded: 'daily_budget_exceeded',
      monthly_budget_exceeded: 'monthly_budget_exceeded',
      total_budget_exceeded: 'total_budget_exceeded',
      user_budget_exceeded: 'user_budget_exceeded',
    },
  },
  ERR_ACCOUNT_DISABLED: { code: 'account_disabled' },
  ERR_API_SUSPENDED: { code: 'api_suspended' },
  ERR_MODEL_NOT_FOUND: { code: 'model_not_found', param: 'model' },
  ERR_NOT_FOUND: { code: 'not_found' },
  ERR_RATE_LIMIT: { code: 'rate_limit_exceeded', reasons: { burst_block: 'address_blocked' } },
  ERR_QUOTA_EXCEEDED: { code: 'rate_limit_exceeded' },
  ERR_INTERNAL: { code: 'internal_error' },
  ERR_INPUT_FETCH_FAILED: { code: 'input_fetch_failed', param: 'image' },
  ERR_GENERATION_FAILED: { code: 'generation_failed' },
  ERR_PROVIDER_UNAVAILABLE: { code: 'provider_unavailable', reasons: { overloaded: 'overloaded' } },
  // Only the portal makes these.
  ERR_SESSION_REQUIRED: { code: 'invalid_api_key' },
  ERR_FORBIDDEN: { code: 'forbidden' },
  ERR_CONFLICT: { code: 'conflict' },
};

/** The error for a client that waited for a creation that failed. A cancelled creation is `cancelled`. */
export const failureRows: Readonly<Record<FailureName, ErrorCode>> = {
  PromptRejected: 'content_policy_violation',
  SourceImageRejected: 'invalid_image',
  GenerationFailed: 'generation_failed',
  NothingRendered: 'generation_failed',
  GenerationTimedOut: 'generation_timeout',
  ServiceUnavailable: 'provider_unavailable',
  InternalFailure: 'generation_failed',
};

/** A refusal of this endpoint alone. It is a Problem, so it counts against the rate. */
export class OpenaiRefusal extends Problem {
  readonly errorCode: ErrorCode;
  readonly param: string | null;
  constructor(errorCode: ErrorCode, message: string, more: More = {}) {
    super('ERR_INVALID_REQUEST', message, more.details ?? {}, more.headers ?? {});
    this.errorCode = errorCode;
    this.param = more.param ?? null;
  }

  override get status(): number {
    return errorRows[this.errorCode].status;
  }
}

interface More {
  readonly details?: Problem['details'];
  readonly headers?: Problem['headers'];
  readonly param?: string;
}

export interface OpenaiError {
  readonly message: string;
  readonly type: string;
  readonly param: string | null;
  readonly code: ErrorCode;
  readonly details: Problem['details'];
}

export interface Refused {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly error: OpenaiError;
}

export function refusedBy(problem: Problem): Refused {
  const errors = fieldErrorsOf(problem);
  const code = codeOf(problem, errors);
  const { status, type, retry } = errorRows[code];
  return {
    status,
    headers: {
      // A refusal that waiting does not end says so in a header of its own.
      'x-should-retry': String(retry),
      ...problem.headers,
      ...(status === 401 && { 'www-authenticate': 'Bearer' }),
    },
    error: {
      message: messageOf(problem, errors, code),
      type,
      param: paramOf(problem, errors),
      code,
      details: errors.length > 0 ? { ...problem.details, errors } : problem.details,
    },
  };
}

function codeOf(problem: Problem, [first]: readonly FieldError[]): ErrorCode {
  if (problem instanceof OpenaiRefusal) return problem.errorCode;
  if (first?.code === 'unsupported_value' || first?.code === 'unsupported_parameter') return first.code;
  // A model that does not write the format.
  if (first?.field === 'output_format' && first.code === 'invalid_value') return 'unsupported_value';
  const { code, reasons } = problemRows[problem.code];
  return reasons?.[String(problem.details['reason'])] ?? code;
}

function paramOf(problem: Problem, [first]: readonly FieldError[]): string | null {
  if (problem instanceof OpenaiRefusal) return problem.param;
  if (first === undefined || first.field === 'body') return problemRows[problem.code].param ?? null;
  return first.field.replace(/[[.].*$/s, '');
}

function fieldErrorsOf({ details: { errors } }: Problem): readonly FieldError[] {
  const list = Array.isArray(errors) ? (errors as readonly FieldError[]) : [];
  return list.map((error) => ({ ...error, field: foreignName(error) }));
}

function messageOf({ message, details }: Problem, [first]: readonly FieldError[], code: ErrorCode): string {
  // By these words of OpenAI, LiteLLM knows an authentication error and a declined prompt.
  if (details['reason'] === 'api_key_invalid') return `Incorrect API key provided. ${message}`;
  if (code === 'content_policy_violation')
    return `Your request was rejected as a result of the safety system. ${message}`;
  const own = (details['errors'] as readonly FieldError[] | undefined)?.[0]?.field;
  if (own === undefined || first === undefined || !message.startsWith(`${own}:`)) return message;
  return `${first.field}${message.slice(own.length)}`;
}

/** A client of this endpoint has sent no image_urls, unless this very name was refused, and no mask_url. */
function foreignName({ field, code }: FieldError): string {
  if (field === 'mask_url') return 'mask';
  return code === 'unsupported_parameter' ? field : field.replace(/^image_urls/, 'image');
}

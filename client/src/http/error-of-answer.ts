/** Reads an answer, and makes the error of an unsuccessful answer. */
import * as errors from '../errors.ts';

/** What the client asks of JSON. */

export type JsonObject = Readonly<Record<string, unknown>>;

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The parsed text, or undefined when it is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/**
 * The seconds that Retry-After names, or undefined if the header is absent or malformed. A date counts from
 * the answer's own Date if there is one, since the clocks of two machines differ.
 */
export function retryAfterSeconds(headers: Headers, nowMillis: number): number | undefined {
  const value = headers.get('retry-after')?.trim();
  if (value === undefined || value === '') return undefined;
  if (/^\d+(?:\.\d+)?$/.test(value)) return Number(value);
  const until = Date.parse(value);
  if (Number.isNaN(until)) return undefined;
  const sent = Date.parse(headers.get('date') ?? '');
  return Math.max(0, (until - (Number.isNaN(sent) ? nowMillis : sent)) / 1000);
}

type ErrorClass = new (refusal: errors.Refusal) => errors.ApiError;

/** By the code of the envelope. A code that is not here belongs to a later release of the service. */
const byCode: Readonly<Record<string, ErrorClass>> = {
  ERR_INVALID_REQUEST: errors.InvalidRequest,
  ERR_CONTENT_POLICY: errors.InvalidRequest,
  ERR_API_KEY_INVALID: errors.AuthenticationFailed,
  ERR_INSUFFICIENT_BALANCE: errors.InsufficientBalance,
  ERR_ACCOUNT_DISABLED: errors.AccessDenied,
  ERR_API_SUSPENDED: errors.AccessDenied,
  ERR_FORBIDDEN: errors.AccessDenied,
  ERR_MODEL_NOT_FOUND: errors.NotFound,
  ERR_NOT_FOUND: errors.NotFound,
  ERR_RATE_LIMIT: errors.RateLimited,
  ERR_QUOTA_EXCEEDED: errors.RateLimited,
  ERR_INTERNAL: errors.InternalError,
  ERR_INPUT_FETCH_FAILED: errors.InputFetchFailed,
  ERR_PROVIDER_UNAVAILABLE: errors.ServiceUnavailable,
};

/** A deployment can answer a failed authentication with `{"detail": REASON}` instead of the envelope. */
const byPlainReason: Readonly<Record<string, readonly [code: string, status: number]>> = {
  authentication_required: ['ERR_API_KEY_INVALID', 401],
  api_key_missing: ['ERR_API_KEY_INVALID', 401],
  api_key_invalid: ['ERR_API_KEY_INVALID', 401],
  account_disabled: ['ERR_ACCOUNT_DISABLED', 403],
  api_suspended: ['ERR_API_SUSPENDED', 403],
};

/** `body` is the parsed JSON, or undefined when the text is not JSON. */
export function errorOfAnswer(
  response: Response,
  text: string,
  body: unknown,
  nowMillis: number,
): errors.ApiError {
  const { status, headers } = response;
  const known = {
    status,
    requestId: headers.get('x-request-id') ?? undefined,
    retryAfter: retryAfterSeconds(headers, nowMillis),
    shouldRetry: headers.get('x-should-retry') !== 'false',
  };
  const envelope = isObject(body) && isObject(body['error']) ? body['error'] : undefined;
  if (typeof envelope?.['code'] === 'string') {
    const { code, message, details } = envelope;
    const refusal = {
      ...known,
      code,
      message: typeof message === 'string' ? message : code,
      details: isObject(details) ? details : {},
    };
    return new (byCode[code] ?? errors.ApiError)(refusal);
  }
  const reason = isObject(body) && typeof body['detail'] === 'string' ? body['detail'] : '';
  const [code = '', plainStatus] = Object.hasOwn(byPlainReason, reason) ? (byPlainReason[reason] ?? []) : [];
  if (plainStatus === status) {
    const message = `The API refused the key: ${reason}.`;
    return new (byCode[code] ?? errors.ApiError)({ ...known, code, message, details: { reason } });
  }
  return new errors.UnexpectedAnswer({ ...known, message: unexpected(response, body) }, text);
}

function unexpected({ status, headers }: Response, body: unknown): string {
  const location = headers.get('location');
  if (location !== null && status >= 300 && status < 400) {
    return `The base URL answered with a redirect to ${location}. The client follows none: correct the base URL.`;
  }
  const what =
    body === undefined ? (headers.get('content-type') ?? 'no content type') : 'JSON of another form';
  return `The answer is not one of the API (status ${status}, ${what}). Check the base URL, or try again later.`;
}

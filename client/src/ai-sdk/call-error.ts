/** The errors of the image model. `ai` takes them for its own. */
import {
  ApiError,
  GenerationFailed,
  InputFetchFailed,
  RateLimited,
  ServiceUnavailable,
  TimeoutError,
} from '../errors.ts';
import { isTemporary } from '../http/retry.ts';

/** What an error of a call says beyond its message. */
export interface CallErrorData {
  /** The code of the API, such as ERR_INSUFFICIENT_BALANCE, or the name of the error of the client. */
  readonly code: string;
  /** The details of the answer, if the API answered. */
  readonly details?: Readonly<Record<string, unknown>>;
  /** The creation that failed, or that has not ended in time and may still complete. */
  readonly creationId?: string;
  /** Send the same call again with this key, and it is never paid twice. */
  readonly idempotencyKey?: string;
}

/** `ai` knows its errors by these symbols, whatever copy of the package made them. */
const markers: readonly symbol[] = ['vercel.ai.error', 'vercel.ai.error.AI_APICallError'].map((name) =>
  Symbol.for(name),
);

/** Longer waits are not waited for: `ai` would only repeat the call too early. */
const longestRetryAfterSeconds = 60;

export interface FailedCall {
  readonly url: string;
  readonly request: unknown;
  /** Whether `ai` may repeat the whole call. */
  readonly isRetryable: boolean;
  /** The creation of the picture, if the error does not name it. */
  readonly creationId?: string | undefined;
}

/**
 * A call that gave no picture. `APICallError.isInstance(error)` of `ai` is true. `cause` is the error of the
 * client library, such as InsufficientBalance.
 */
export class DarkroomCallError extends Error {
  override readonly name: string = 'AI_APICallError';
  readonly url: string;
  readonly requestBodyValues: unknown;
  readonly statusCode: number | undefined;
  readonly responseHeaders: Record<string, string> | undefined;
  readonly responseBody: string | undefined;
  /** True when the same call may succeed, and is certainly not paid twice. `ai` then repeats it. */
  readonly isRetryable: boolean;
  readonly data: CallErrorData;

  constructor(cause: Error, { url, request, isRetryable, creationId }: FailedCall) {
    super(cause.message, { cause });
    for (const marker of markers) Object.defineProperty(this, marker, { value: true });
    this.url = url;
    this.requestBodyValues = request;
    this.isRetryable = isRetryable;
    this.data = dataOf(cause, creationId);
    if (!(cause instanceof ApiError)) return;
    const { status, code, message, details, retryAfter, requestId } = cause;
    this.statusCode = status;
    this.responseBody = JSON.stringify({ error: { code, message, details } });
    this.responseHeaders = {
      ...(retryAfter !== undefined && { 'retry-after': String(retryAfter) }),
      ...(requestId !== undefined && { 'x-request-id': requestId }),
    };
  }
}

function dataOf(cause: Error, known: string | undefined): CallErrorData {
  const { idempotencyKey } = cause as { idempotencyKey?: string };
  const creationId = known ?? creationOf(cause);
  return {
    code: cause instanceof ApiError ? cause.code : cause.name,
    ...(cause instanceof ApiError && { details: cause.details }),
    ...(creationId !== undefined && { creationId }),
    ...(idempotencyKey !== undefined && { idempotencyKey }),
  };
}

function creationOf(cause: Error): string | undefined {
  if (cause instanceof GenerationFailed) return cause.creation.id;
  return cause instanceof TimeoutError ? cause.creationId : undefined;
}

/**
 * Whether `ai` may repeat a call with this error. The client library has repeated it already, with its key.
 * `ai` repeats it with another key, unless the program gave one. So without a key only an error is repeated
 * that says that nothing was paid, and only without an earlier attempt that may have been paid.
 */
export function mayRepeat(error: unknown, hasKey: boolean): boolean {
  if (error instanceof GenerationFailed) return error.retryable && error.refunded;
  if (error instanceof ApiError && (error.retryAfter ?? 0) > longestRetryAfterSeconds) return false;
  const isFree = hasKey || !(error instanceof ApiError && error.cause !== undefined);
  if (error instanceof RateLimited || error instanceof ServiceUnavailable) return isFree;
  if (error instanceof InputFetchFailed) return isFree && error.retryable;
  // The program's own time limit is over.
  if (error instanceof TimeoutError && error.creationId !== undefined) return false;
  return hasKey && isTemporary(error);
}

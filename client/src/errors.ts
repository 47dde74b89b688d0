/** The errors of the client. Every error that the client throws is a DarkroomError, or the reason of a signal. */
import type { FailedCreation, FieldError } from './types/generated.ts';

/**
 * Everything that this client throws extends this class. Only an aborted signal is thrown as it is.
 *
 * @example
 * ```ts
 * try {
 *   await darkroom.creations.get('no such creation');
 * } catch (error) {
 *   console.log(error instanceof DarkroomError); // true
 * }
 * ```
 */
export class DarkroomError extends Error {
  override readonly name: string = 'DarkroomError';
  /**
   * The Idempotency-Key of the POST that failed. Send the same request with this key again, and it is never
   * charged twice.
   */
  idempotencyKey?: string;
}

/** No answer arrived: the connection could not be made, or it broke. `cause` is the error of fetch. */
export class ConnectionError extends DarkroomError {
  override readonly name: string = 'ConnectionError';
}

/** An answer, or the end of a creation, did not arrive within the time limit. */
export class TimeoutError extends DarkroomError {
  override readonly name: string = 'TimeoutError';
  /** The creation that has not ended yet, if the time limit was that of a wait. It may still complete. */
  readonly creationId?: string;

  constructor(message: string, options?: ErrorOptions & { creationId?: string }) {
    super(message, options);
    if (options?.creationId !== undefined) this.creationId = options.creationId;
  }
}

/**
 * A creation has failed. Its charge was refunded in full.
 *
 * @example
 * ```ts
 * try {
 *   await darkroom.images.generateAndWait({ model: 'sandbox-sketch', prompt: 'a fox [sandbox:reject-prompt]' });
 * } catch (error) {
 *   if (!(error instanceof GenerationFailed)) throw error;
 *   console.log(error.errorCode, error.refunded, error.creation.cost); // prompt_rejected true 0.01
 * }
 * ```
 */
export class GenerationFailed extends DarkroomError {
  override readonly name: string = 'GenerationFailed';
  readonly creation: FailedCreation;
  /** Why, for programs. Branch on `errorCode`, never on the message. */
  readonly errorCode: FailedCreation['error_code'];
  /** True when the same request may succeed. False when the prompt or a source image must be changed. */
  readonly retryable: boolean;
  readonly refunded: boolean;

  constructor(creation: FailedCreation) {
    super(creation.error);
    this.creation = creation;
    this.errorCode = creation.error_code;
    this.retryable = creation.retryable;
    this.refunded = creation.amount_refunded >= creation.cost;
  }
}

/** What an answer with an error says. */
export interface Refusal {
  readonly status: number;
  /** The stable code, such as ERR_INVALID_REQUEST. */
  readonly code: string;
  readonly message: string;
  readonly details: Readonly<Record<string, unknown>>;
  /** The X-Request-Id of the answer. Name it when you ask for help. */
  readonly requestId?: string | undefined;
  /** Seconds after which a repetition makes sense, as the header Retry-After says. */
  readonly retryAfter?: number | undefined;
  /** False when the header x-should-retry says that waiting changes nothing. */
  readonly shouldRetry?: boolean;
}

/**
 * The API answered with an error. Its subclasses say which one; branch on the class, or on `code` and
 * `reason`, and never on the message.
 *
 * @example
 * ```ts
 * try {
 *   await darkroom.creations.get('no such creation');
 * } catch (error) {
 *   if (!(error instanceof ApiError)) throw error;
 *   console.log(error.status, error.code); // 404 ERR_NOT_FOUND
 * }
 * ```
 */
export class ApiError extends DarkroomError {
  override readonly name: string = 'ApiError';
  readonly status!: number;
  readonly code!: string;
  /** `details.reason`, if the answer has one. */
  readonly reason: string | undefined;
  readonly details!: Readonly<Record<string, unknown>>;
  readonly requestId: string | undefined;
  /** Seconds after which a repetition makes sense, as the header Retry-After says. */
  readonly retryAfter: number | undefined;
  /** False when the service says that waiting changes nothing. */
  readonly shouldRetry: boolean | undefined;

  constructor(refusal: Refusal) {
    super(refusal.message);
    Object.assign(this, refusal);
    this.reason = textIn(refusal.details, 'reason');
  }
}

/** 400: the request is wrong, or cannot be served as it was sent. `errors` has one item for each wrong field. */
export class InvalidRequest extends ApiError {
  override readonly name: string = 'InvalidRequest';
  readonly errors: readonly FieldError[];

  constructor(refusal: Refusal) {
    super(refusal);
    const { errors } = refusal.details;
    this.errors = Array.isArray(errors) ? (errors as readonly FieldError[]) : [];
  }
}

/** 401: the key is missing, unknown, revoked or expired. */
export class AuthenticationFailed extends ApiError {
  override readonly name: string = 'AuthenticationFailed';
}

/** 402: the wallet or a budget of the key does not cover the request. Nothing was charged. */
export class InsufficientBalance extends ApiError {
  override readonly name: string = 'InsufficientBalance';
  /** USD that the request costs. Undefined when a budget was exceeded. */
  readonly required: number | undefined;
  /** USD that were available. Undefined when a budget was exceeded. */
  readonly available: number | undefined;
  readonly topUpUrl: string | undefined;
  /** When the exceeded budget begins anew. */
  readonly resetsAt: string | undefined;

  constructor(refusal: Refusal) {
    super(refusal);
    this.required = numberIn(refusal.details, 'required');
    this.available = numberIn(refusal.details, 'available');
    this.topUpUrl = textIn(refusal.details, 'top_up_url');
    this.resetsAt = textIn(refusal.details, 'resets_at');
  }
}

/** 403: the account is disabled, or its access to the API is suspended. */
export class AccessDenied extends ApiError {
  override readonly name: string = 'AccessDenied';
}

/** 404: the account has no such creation, model or path. */
export class NotFound extends ApiError {
  override readonly name: string = 'NotFound';
}

/** 429: too many requests, or too many open creations. `retryAfter` says for how many seconds to wait. */
export class RateLimited extends ApiError {
  override readonly name: string = 'RateLimited';
}

/** 500: the outcome is unknown. Send the request again with the same Idempotency-Key. */
export class InternalError extends ApiError {
  override readonly name: string = 'InternalError';
}

/** 502: a source image could not be downloaded. Nothing was charged. */
export class InputFetchFailed extends ApiError {
  override readonly name: string = 'InputFetchFailed';
  /** The index in `image_urls`, if the service knows it. */
  readonly inputIndex: number | undefined;
  readonly retryable: boolean;

  constructor(refusal: Refusal) {
    super(refusal);
    this.inputIndex = numberIn(refusal.details, 'input_index');
    this.retryable = refusal.details['retryable'] === true;
  }
}

/** 503: no provider is available, or the service is busy. Nothing is charged, or the charge was refunded. */
export class ServiceUnavailable extends ApiError {
  override readonly name: string = 'ServiceUnavailable';
}

/**
 * The answer did not come from the API, but from something in between, or from another server: it is not
 * JSON, or it has no error envelope. Its `code` is UNEXPECTED_ANSWER.
 */
export class UnexpectedAnswer extends ApiError {
  override readonly name: string = 'UnexpectedAnswer';
  /** The beginning of the body: at most 500 characters. */
  readonly excerpt: string;

  constructor(refusal: Omit<Refusal, 'code' | 'details'>, body: string) {
    super({ ...refusal, code: 'UNEXPECTED_ANSWER', details: {} });
    this.excerpt = body.slice(0, 500);
  }
}

function textIn(details: Readonly<Record<string, unknown>>, name: string): string | undefined {
  const value = details[name];
  return typeof value === 'string' ? value : undefined;
}

function numberIn(details: Readonly<Record<string, unknown>>, name: string): number | undefined {
  const value = details[name];
  return typeof value === 'number' ? value : undefined;
}

/** When a request is sent again, and after which wait. */
import { ApiError, ConnectionError, InputFetchFailed, TimeoutError, UnexpectedAnswer } from '../errors.ts';

/** A retry that is about to happen, as `onRetry` gets it. */
export interface Retry {
  /** 1 before the first repetition. */
  readonly attempt: number;
  /** Milliseconds until the repetition. */
  readonly waitMs: number;
  readonly method: string;
  /** Relative to the root of the API. */
  readonly path: string;
  /** Why the request is repeated. */
  readonly error: Error;
}

/** The statuses of an answer with the envelope that may go away by themselves. */
const temporary: readonly number[] = [408, 429, 500, 503];
/** The statuses with which a gateway says that the service did not answer. */
const ofGateways: readonly number[] = [...temporary, 502, 504];

const firstWaitMillis = 500;
const longestPauseMillis = 30_000;
/** If a server asks for a wait longer than a window of the rate limit, the caller decides. */
const longestRetryAfterSeconds = 60;

/** Whether the same request can be sent again with a hope of success, and without a second charge. */
export function isTemporary(error: unknown): error is Error {
  if (error instanceof ConnectionError || error instanceof TimeoutError) return true;
  if (error instanceof UnexpectedAnswer) return ofGateways.includes(error.status);
  if (error instanceof InputFetchFailed) return error.retryable;
  return error instanceof ApiError && temporary.includes(error.status) && error.shouldRetry !== false;
}

/**
 * The pause before a retry, or undefined if there shall be none: the error is final, or the server asks for a wait
 * so long that the caller has to decide. A wait has milliseconds left, and counts no attempts.
 */
export function waitBeforeRetry(
  error: unknown,
  pauseMs: number,
  leftMs: number | undefined,
  isLast: boolean,
): number | undefined {
  if (!isTemporary(error)) return undefined;
  const asked = retryAfterOf(error);
  // A source image that cannot be fetched is no outage of the service.
  if (leftMs === undefined || error instanceof InputFetchFailed) {
    return isLast || (asked ?? 0) > longestRetryAfterSeconds ? undefined : pauseMs;
  }
  if (asked === undefined) return beforeEnd(pauseMs, leftMs);
  return pauseMs < leftMs ? pauseMs : undefined;
}

/**
 * The milliseconds to wait after failure number `failures` (1 is the first). The wait that the server asks for
 * is never shortened. The jitter keeps clients apart that failed together.
 */
export function pauseAfter(error: unknown, failures: number, random: () => number): number {
  const asked = retryAfterOf(error);
  if (asked !== undefined) return Math.ceil(asked * 1000 * (1 + random() / 10));
  const doubled = Math.min(longestPauseMillis, firstWaitMillis * 2 ** (failures - 1));
  return Math.ceil(doubled * (0.5 + random() / 2));
}

/**
 * Shortens a pause that would outlast the wait, so that the last attempt comes a second before the end. The
 * service refuses two polls within a second.
 */
export function beforeEnd(waitMs: number, leftMs: number): number | undefined {
  if (waitMs < leftMs) return waitMs;
  return leftMs < 2000 ? undefined : leftMs - 1000;
}

function retryAfterOf(error: unknown): number | undefined {
  return error instanceof ApiError ? error.retryAfter : undefined;
}

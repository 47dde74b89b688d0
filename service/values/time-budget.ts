/**
 * The time of one request, from its arrival to its answer. Every wait inside the request gets
 * the same signal: name look-ups, downloads, DynamoDB, S3, Step Functions. After the end the
 * request sends nothing, also when Lambda freezes the environment and a later invocation
 * thaws it.
 */
import type { Clock } from './runtime.ts';

export interface TimeBudget {
  /** Aborts when the time is used up, or when `end` is called. */
  readonly signal: AbortSignal;
  /** Milliseconds since the request arrived. */
  elapsed(): number;
  /** Milliseconds until the time is used up. 0 after the end. */
  left(): number;
  /** Called when the answer is given. Ends everything that still waits. */
  end(): void;
}

/** Starts a budget now. */
export function startBudget(clock: Pick<Clock, 'elapsed' | 'timeout'>, millis: number): TimeBudget {
  const arrivedAt = clock.elapsed();
  const ended = new AbortController();
  const limit = clock.timeout(millis);
  limit.signal.addEventListener('abort', () => ended.abort(), { once: true });
  const elapsed = (): number => clock.elapsed() - arrivedAt;
  return {
    signal: ended.signal,
    elapsed,
    left: () => (ended.signal.aborted ? 0 : Math.max(0, millis - elapsed())),
    end: () => {
      limit.release();
      ended.abort();
    },
  };
}

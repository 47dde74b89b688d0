/**
 * The time of one request, from its arrival to its answer. Every wait inside the request gets the
 * same signal: name look-ups, downloads, DynamoDB, S3, Step Functions. Behind the end nothing is
 * sent any more, also when Lambda freezes the environment and a later invocation thaws it.
 */
import type { Clock } from './ports/runtime.ts';

export interface TimeBudget {
  /** Aborts when the time is used up, or when the answer was given. */
  readonly signal: AbortSignal;
  /** Milliseconds since the request arrived. */
  elapsed(): number;
  /** Milliseconds until the time is used up; 0 behind the end. */
  left(): number;
  /** The answer is given: whatever still goes on ends now. */
  end(): void;
}

/** A budget that begins now. */
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

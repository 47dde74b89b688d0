import type { Clock } from './runtime.ts';

/** Moments as people write them. */

const form = /^(\d{4})-(\d\d)-(\d\d)T\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/i;

/** The Unix milliseconds of a moment of RFC 3339. Undefined for every other text, and for 30 February. */
export function readMoment(text: string): number | undefined {
  const match = form.exec(text.trim());
  const [, year, month, day] = (match ?? []).map(Number);
  const isDay = new Date(Date.UTC(year ?? NaN, (month ?? NaN) - 1, day)).getUTCDate() === day;
  const millis = Date.parse(text.trim());
  return isDay && !Number.isNaN(millis) ? millis : undefined;
}

/** The UTC month in which a time lies, in the form "2026_11" of the attributes of a key's spend. */
export function monthOf(millis: number): string {
  return new Date(millis).toISOString().slice(0, 7).replace('-', '_');
}

/** The UTC day in which a time lies, in the form "2026_11_21" of the attributes of a key's spend. */
export function dayOf(millis: number): string {
  return new Date(millis).toISOString().slice(0, 10).replaceAll('-', '_');
}

/** The start of the next UTC day, RFC 3339. */
export function nextDay(millis: number): string {
  const date = new Date(millis);
  return new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate() + 1)).toISOString();
}

/** The start of the next UTC month, RFC 3339. Then a key's spend begins at 0. */
export function nextMonth(millis: number): string {
  const date = new Date(millis);
  return new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1)).toISOString();
}

export function dayAfter(day: string): string {
  return nextDay(Date.parse(day)).slice(0, 10);
}

/**
 * The time of one request, from its arrival to its answer. Every wait inside the request gets the same
 * signal: DNS queries, downloads, DynamoDB, S3, Step Functions. After the end the request sends nothing, also
 * when Lambda freezes the environment and a later invocation thaws it.
 */
export type TimeBudget = ReturnType<typeof startBudget>;

export function startBudget(clock: Pick<Clock, 'elapsed' | 'timeout'>, millis: number) {
  const arrivedAt = clock.elapsed();
  const ended = new AbortController();
  const limit = clock.timeout(millis);
  limit.signal.addEventListener('abort', () => ended.abort(), { once: true });
  const elapsed = (): number => clock.elapsed() - arrivedAt;
  return {
    /** Aborts when the time is used up, or when `end` is called. */
    signal: ended.signal,
    elapsed,
    /** Milliseconds until the time is used up. 0 after the end. */
    left: (): number => (ended.signal.aborted ? 0 : Math.max(0, millis - elapsed())),
    /** Called when the answer is given. Ends everything that still waits. */
    end: () => {
      limit.release();
      ended.abort();
    },
  };
}

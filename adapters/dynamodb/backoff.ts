/** How often a call is made again that others were in the way of, and the pauses between its tries. */
import type { Table } from './table.ts';

const tries = 6;
/** The SDK retries throttling by itself, with pauses of seconds: six tries of it would outlast the gateway's 30 s. */
const longestTryingMillis = 4_000;
const firstBackoffMillis = 15;
const longestBackoffMillis = 400;

/** Whether the nth try was the last: six tries, or four seconds since the first one began. */
export function isExhausted(table: Table, begunAt: number, attempt: number): boolean {
  return attempt === tries || table.clock.elapsed() - begunAt > longestTryingMillis;
}

/** Milliseconds before the next try, with full jitter: two calls that met must not meet again. */
export function backoffMillis(table: Table, attempt: number): number {
  const most = Math.min(longestBackoffMillis, firstBackoffMillis * 2 ** attempt);
  return 1 + ((table.randomBytes(1)[0] ?? 0) / 256) * most;
}

/** How often a call is tried when other calls hold its items, and the pauses between the tries. */
import type { Table } from './table.ts';

const tries = 10;
/**
 * Within one try the SDK retries throttles itself, with pauses of seconds. Ten such tries would exceed the
 * gateway's 30 s.
 */
const longestTryingMillis = 4_000;
const firstBackoffMillis = 15;
const longestBackoffMillis = 400;

/** Whether no further try follows: after ten tries, or four seconds after the first try began. */
export function isExhausted(table: Table, begunAt: number, attempt: number): boolean {
  return attempt === tries || table.clock.elapsed() - begunAt > longestTryingMillis;
}

/**
 * Milliseconds before the next try. The whole pause is random, so that two calls that collided do not collide
 * again.
 */
export function backoffMillis(table: Table, attempt: number): number {
  const most = Math.min(longestBackoffMillis, firstBackoffMillis * 2 ** attempt);
  return 1 + ((table.randomBytes(1)[0] ?? 0) / 256) * most;
}

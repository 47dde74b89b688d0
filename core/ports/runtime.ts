/** Time, random bytes and the log, which every handler gets. */
import type { AlarmEvent } from '../metrics.ts';

/**
 * A signal that aborts at its time. The code that asked for the signal releases it when the work has ended.
 */
export interface TimeLimit {
  readonly signal: AbortSignal;
  release(): void;
}

/** The time, and ways to wait. A handler uses no other clock. */
export interface Clock {
  /** Unix milliseconds. */
  now(): number;
  /** Milliseconds of a clock that is never set. Differences of it measure how long something took. */
  elapsed(): number;
  sleep(millis: number, signal?: AbortSignal): Promise<void>;
  /** Aborts at the given Unix milliseconds. `release` stops the timer. */
  deadline(atMillis: number): TimeLimit;
  /** Aborts after the given milliseconds of `elapsed`. `release` stops the timer. */
  timeout(millis: number): TimeLimit;
  /** Runs a task again and again until the returned function is called. */
  every(millis: number, task: () => void): () => void;
}

export type RandomBytes = (count: number) => Uint8Array;

/** Structured logging. Fields never hold a prompt, a key, a secret or a signed address. */
export interface Log {
  info(event: string, fields?: Readonly<Record<string, unknown>>): void;
  /** Logs an event that needs an operator. */
  alarm(event: AlarmEvent, fields?: Readonly<Record<string, unknown>>): void;
}

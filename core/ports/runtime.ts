/** Time, dice and the log: what every handler has. */
import type { AlarmEvent } from '../metrics.ts';

/** A signal that aborts by itself. Who asked for the signal releases it when the work has ended. */
export interface TimeLimit {
  readonly signal: AbortSignal;
  release(): void;
}

/** Time, dice and waiting; the only place where a handler gets them. */
export interface Clock {
  /** Unix milliseconds. */
  now(): number;
  /** Milliseconds of a clock that is never set: for how long something took. */
  elapsed(): number;
  sleep(millis: number, signal?: AbortSignal): Promise<void>;
  /** Aborts at the given Unix milliseconds. `release` ends the watch. */
  deadline(atMillis: number): TimeLimit;
  /** Aborts after the given milliseconds of `elapsed`. `release` ends the watch. */
  timeout(millis: number): TimeLimit;
  /** Runs a task again and again until the returned function is called. */
  every(millis: number, task: () => void): () => void;
}

export type RandomBytes = (count: number) => Uint8Array;

/** Structured logging: fields only, never a prompt, key, secret or signed address. */
export interface Log {
  info(event: string, fields?: Readonly<Record<string, unknown>>): void;
  /** Something an operator has to look at. */
  alarm(event: AlarmEvent, fields?: Readonly<Record<string, unknown>>): void;
}

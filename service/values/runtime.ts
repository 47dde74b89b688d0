/** Time, random bytes and the log, which every handler gets. */
import type { BareEvent, LogEvent, LogFields } from '../contract/log-lines.ts';
import type { AlarmEvent } from '../contract/metrics.ts';

/** A signal that aborts at its time. The caller releases the signal after the work. */
export interface TimeLimit {
  readonly signal: AbortSignal;
  release(): void;
}

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
  every(millis: number, task: () => void): () => void;
}

export type RandomBytes = (count: number) => Uint8Array;

/** Structured logging. A line has the members that service/contract/log-lines.ts states for its event. */
export interface Log {
  info(event: BareEvent): void;
  info<Event extends LogEvent>(event: Event, fields: LogFields<Event>): void;
  alarm(event: BareEvent & AlarmEvent): void;
  alarm<Event extends AlarmEvent>(event: Event, fields: LogFields<Event>): void;
}

/** The same, for what writes the lines of every event. */
export interface AnyLog {
  info(event: string, fields?: Readonly<Record<string, unknown>>): void;
  alarm(event: string, fields?: Readonly<Record<string, unknown>>): void;
}

/** The name of an error, for the log. Its message may hold a prompt or a secret, so it stays out. */
export function errorName(error: unknown): string {
  return error instanceof Error ? error.name : 'unknown';
}

/** The same services with a log that adds these ids of request, account or creation to every line. */
export function logWith<Services extends { readonly log: Log }>(
  services: Services,
  ids: Readonly<Record<string, string | undefined>>,
): Services {
  const written: AnyLog = services.log;
  const log: AnyLog = {
    info: (event, fields) => written.info(event, { ...ids, ...fields }),
    alarm: (event, fields) => written.alarm(event, { ...ids, ...fields }),
  };
  return { ...services, log };
}

// The schema of what one release writes and another reads: the records of creations and the inputs of their
// executions. Both carry the version `v` of the release that accepted the creation. A field that may be absent
// needs no new version. A change that older code would take for something else needs one: the release that
// understands it comes first, and the next release writes it.

/** What a release does with versions. A record or an input without a version has version 1. */
export interface Schema {
  readonly written: number;
  readonly newestKnown: number;
}

export const schema: Schema = { written: 1, newestKnown: 1 };

export function isKnownVersion(v: number | undefined, { newestKnown }: Schema): boolean {
  return (v ?? 1) <= newestKnown;
}

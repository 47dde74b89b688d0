/** A vendor's keys or secret for its callbacks. Asked for rarely, as anybody can forge a callback. */
import { readVendorJson } from '../values/read-json.ts';
import type { Clock } from '../values/runtime.ts';
import { type CallbackRequest, type CallbackVerdict, CredentialsUnreadable } from './provider.ts';
import { CallBroke, fieldsOf } from './vendor-http.ts';

/** fal allows a day. A vendor that takes a key back is believed after a day at the latest. */
const heldMillis = 24 * 3_600_000;

/** The least time between two questions that only a signature without a fitting key has caused. */
const pauseMillis = 60_000;

/** While no keys are held, callbacks cannot be verified at all, so the vendor is asked again soon. */
const pauseAfterFailureMillis = 5_000;

/** A vendor that hangs must not use up the time of a callback or of a submission. */
const askMillis = 3_000;

export interface CallbackKeys<Keys> {
  /** Undefined: the vendor did not return them. Throws when the signal aborts. */
  read(signal: AbortSignal): Promise<Keys | undefined>;
  /** Whether the keys fit. If not, the vendor is asked again, at most once a minute. Throws on abort. */
  check(
    fits: (keys: Keys) => boolean,
    signal: AbortSignal,
  ): Promise<'genuine' | 'wrong_signature' | 'unverifiable'>;
}

export interface CallbackKeysOptions<Keys> {
  readonly clock: Pick<Clock, 'now' | 'timeout'>;
  /** Asks the vendor. Undefined: its answer holds no usable keys. */
  readonly ask: (signal: AbortSignal) => Promise<Keys | undefined>;
}

export function createCallbackKeys<Keys>({ clock, ask }: CallbackKeysOptions<Keys>): CallbackKeys<Keys> {
  let held: { readonly keys: Keys; readonly since: number } | undefined;
  let last: { readonly at: number; readonly hasFailed: boolean } | undefined;
  let asking: Promise<Keys | undefined> | undefined;

  const isSinceLast = (millis: number): boolean => last !== undefined && clock.now() - last.at < millis;

  const askInTime = async (): Promise<Keys | undefined> => {
    const at = clock.now();
    const limit = clock.timeout(askMillis);
    let keys: Keys | undefined;
    try {
      keys = await ask(limit.signal);
    } catch (error) {
      const isAway = error instanceof CallBroke || error instanceof CredentialsUnreadable;
      if (!isAway && !limit.signal.aborted) throw error;
    } finally {
      limit.release();
      asking = undefined;
    }
    if (keys !== undefined) held = { keys, since: at };
    last = { at, hasFailed: keys === undefined };
    return keys;
  };

  /** All callbacks that come in while the vendor is asked wait for the same answer. */
  const askOnce = async (signal: AbortSignal): Promise<Keys | undefined> => {
    signal.throwIfAborted();
    return unlessAborted(signal, (asking ??= askInTime()));
  };

  const read = async (signal: AbortSignal): Promise<Keys | undefined> => {
    if (held && clock.now() - held.since < heldMillis) return held.keys;
    if (last?.hasFailed === true && isSinceLast(pauseAfterFailureMillis)) return undefined;
    return askOnce(signal);
  };

  return {
    read,
    check: async (fits, signal) => {
      const keys = await read(signal);
      if (keys === undefined) return 'unverifiable';
      if (fits(keys)) return 'genuine';
      if (isSinceLast(pauseMillis)) return last?.hasFailed === true ? 'unverifiable' : 'wrong_signature';
      const newer = await askOnce(signal);
      if (newer === undefined) return 'unverifiable';
      return fits(newer) ? 'genuine' : 'wrong_signature';
    },
  };
}

async function unlessAborted<Value>(signal: AbortSignal, work: Promise<Value>): Promise<Value> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = (): void => reject(signal.reason as Error);
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([aborted, work]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

// Reads a callback. Nothing in it is certain before its signature is verified.

/** Both vendors sign the time, in seconds, and ask for this much tolerance at the most. */
const toleranceMillis = 300_000;

/** Undefined: the header is absent, or it came twice under names of different case. */
export function headerOf({ headers }: CallbackRequest, name: string): string | undefined {
  const values = Object.entries(headers).flatMap(([key, value]) =>
    key.toLowerCase() === name && value !== undefined ? [value] : [],
  );
  return values.length === 1 ? values[0] : undefined;
}

/** Whether a time in seconds is at most five minutes away, before or after. */
export function isTimely(seconds: string, nowMillis: number): boolean {
  return /^\d{1,12}$/.test(seconds) && Math.abs(nowMillis - Number(seconds) * 1_000) <= toleranceMillis;
}

export function bodyFieldsOf({ body }: CallbackRequest): Readonly<Record<string, unknown>> {
  return fieldsOf(readVendorJson(Buffer.from(body).toString('utf8')));
}

export function refusedCallback(why: string): CallbackVerdict {
  return { kind: 'refused', why };
}

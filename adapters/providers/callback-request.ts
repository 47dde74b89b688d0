/** Reads a callback. Nothing in it is certain before its signature is verified. */
import type { CallbackRequest, CallbackVerdict } from '../../core/provider.ts';
import { readVendorJson } from '../../core/read-json.ts';
import { fieldsOf } from './vendor-json.ts';

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

/** The fields of a JSON object. Any other body has no fields. */
export function bodyFieldsOf({ body }: CallbackRequest): Readonly<Record<string, unknown>> {
  return fieldsOf(readVendorJson(Buffer.from(body).toString('utf8')));
}

export function refusedCallback(why: string): CallbackVerdict {
  return { kind: 'refused', why };
}

/** Query parameters of the portal's lists. Each reader notes what is wrong, so that a refusal names everything. */
import type { ApiRequest } from '../api/request.ts';
import { type Days, isDay } from '../usage/booked-row.ts';
import { type FieldError, invalidRequest } from '../values/problem.ts';
import { dayAfter } from '../values/time.ts';

const mostLimit = 100;
const defaultLimit = 25;
const mostDays = 366;

export interface Parameters {
  /** The value, read and checked. Undefined when the request has none, or when it is wrong. */
  read<Value>(name: string, read: (text: string) => Value | undefined, message: string): Value | undefined;
  limit(): number;
  /** Throws 400 when anything was wrong. */
  check(): void;
}

export function parametersOf({ query }: Pick<ApiRequest, 'query'>): Parameters {
  const errors: FieldError[] = [];
  const read: Parameters['read'] = (name, reader, message) => {
    const text = query[name];
    if (text === undefined) return undefined;
    const value = reader(text);
    if (value === undefined) errors.push({ field: name, code: 'invalid_value', message });
    return value;
  };
  return {
    read,
    limit: () => read('limit', limitIn, `must be a whole number from 1 to ${mostLimit}`) ?? defaultLimit,
    check: () => {
      if (errors.length > 0) throw invalidRequest(errors);
    },
  };
}

function limitIn(text: string): number | undefined {
  const limit = Number(text);
  return /^\d+$/.test(text) && limit >= 1 && limit <= mostLimit ? limit : undefined;
}

/** A UTC day that exists, such as "2026-11-21". */
export function dayIn(text: string): string | undefined {
  return isDay(text) ? text : undefined;
}

/** A UTC month, such as "2026-11". */
export function monthIn(text: string): string | undefined {
  return dayIn(`${text}-01`) === undefined ? undefined : text;
}

export function oneOf<Value extends string>(known: readonly Value[]): (text: string) => Value | undefined {
  return (text) => known.find((value) => value === text);
}

export function choiceOf(known: readonly string[]): string {
  return `must be one of ${known.map((value) => JSON.stringify(value)).join(', ')}`;
}

/** The days of a range: `from` and `to`, or the last thirty. At most a year and a day. */
export function daysOf(parameters: Parameters, nowMillis: number): Days {
  const words = 'must be a UTC day, such as 2026-11-21';
  const today = new Date(nowMillis).toISOString().slice(0, 10);
  const to = parameters.read('to', dayIn, words) ?? today;
  const monthBefore = new Date(Date.parse(to) - 29 * 86_400_000).toISOString().slice(0, 10);
  const from = parameters.read('from', dayIn, words) ?? monthBefore;
  parameters.check();
  if (from > to) throw wrong('from', 'must not be after "to"');
  if (Date.parse(dayAfter(to)) - Date.parse(from) > mostDays * 86_400_000)
    throw wrong('from', `at most ${mostDays} days`);
  return { from, to };
}

export function wrong(field: string, message: string): ReturnType<typeof invalidRequest> {
  return invalidRequest([{ field, code: 'invalid_value', message }]);
}

export const cursorWords = 'must be a next_cursor of an answer before';

/** A cursor of our own: a value as JSON in base64url. */
export function toCursor(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

/** What a cursor holds. Undefined when it was made up. */
export function fromCursor(text: string): unknown {
  try {
    return JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
  } catch {
    return undefined;
  }
}

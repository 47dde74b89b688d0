/** Bodies of the portal's operations, and values that several of them take. */
import * as z from 'zod/mini';
import { type ApiRequest, jsonBody } from '../api/request.ts';
import { type AccountLimits, limitRanges } from '../contract/limits.ts';
import {
  asMicros,
  formatUsd,
  fromUsd,
  hasAtMostSixDecimals,
  largestAvailableMicros,
  type Micros,
  toUsd,
} from '../values/money.ts';
import { type FieldError, fieldErrors, invalidRequest, onePerField } from '../values/problem.ts';
import { type ShownText, textProblem } from '../values/text.ts';
import { readMoment } from '../values/time.ts';

/** The body by the schema. Throws 400 with every wrong field. @param more problems beyond the schema */
export function parseBody<Schema extends z.ZodMiniType>(
  request: ApiRequest,
  schema: Schema,
  more: (body: z.output<Schema>) => readonly (FieldError | undefined)[] = () => [],
): z.output<Schema> {
  const result = schema.safeParse(jsonBody(request), { reportInput: true });
  const found = result.success ? more(result.data) : fieldErrors(result.error.issues);
  const errors = onePerField(found.filter((error) => error !== undefined));
  if (!result.success || errors.length > 0) throw invalidRequest(errors);
  return result.data;
}

type Finding = Omit<FieldError, 'field'> | undefined;

function checkedBy<Value>(find: (value: unknown) => Finding): z.ZodMiniType<Value, Value> {
  return z.custom<Value>().check(({ value, issues }) => {
    const found: Finding = value === undefined ? { code: 'required', message: 'required' } : find(value);
    if (found)
      issues.push({ code: 'custom', input: value, message: found.message, params: { code: found.code } });
  });
}

/** An amount in USD with at most 6 decimals, in the range of the operator's command. */
export function usd(least: 'zero' | 'above zero'): z.ZodMiniType<number, number> {
  return checkedBy<number>((value) => {
    if (typeof value !== 'number' || !Number.isFinite(value))
      return { code: 'invalid_type', message: 'must be a number' };
    if (value < 0 || (least === 'above zero' && value === 0))
      return { code: 'too_small', message: `must be ${least === 'zero' ? 'at least 0' : 'above 0'}` };
    if (value > toUsd(largestAvailableMicros))
      return { code: 'too_big', message: `at most ${formatUsd(largestAvailableMicros)}` };
    return hasAtMostSixDecimals(value) ? undefined : { code: 'invalid_value', message: 'at most 6 decimals' };
  });
}

export function microsOf(amount: number): Micros {
  return asMicros(fromUsd(amount));
}

export function shownText(kind: ShownText): z.ZodMiniType<string, string> {
  return checkedBy<string>((value) =>
    typeof value === 'string'
      ? textProblem(kind, value)
      : { code: 'invalid_type', message: 'must be a string' },
  );
}

export const moment = checkedBy<string>((value) =>
  typeof value === 'string' && readMoment(value) !== undefined
    ? undefined
    : { code: 'invalid_value', message: 'must be a time in RFC 3339, such as 2027-01-31T18:00:00Z' },
);

export const version = z.string();

export function wholeNumber(least: number, most: number): z.ZodMiniNumber {
  return z.number().check(
    z.refine((value) => Number.isInteger(value), {
      error: 'must be a whole number',
      params: { code: 'invalid_type' },
    }),
    z.minimum(least),
    z.maximum(most),
  );
}

function limit(name: keyof AccountLimits): z.ZodMiniOptional<z.ZodMiniNumber> {
  const [least, most] = limitRanges[name];
  return z.optional(wholeNumber(least, most));
}

/** The limits of an account in a body. @param fields the limits by the names of their fields */
export function limitsBody<const Fields extends Readonly<Record<string, keyof AccountLimits>>>(
  // Every limit has its member.
  fields: keyof AccountLimits extends Fields[keyof Fields] ? Fields : never,
) {
  type Field = keyof Fields & string;
  const all = Object.entries<keyof AccountLimits>(fields);
  const shape = Object.fromEntries(all.map(([field, name]) => [field, limit(name)]));
  return {
    schema: z.optional(z.strictObject(shape as Record<Field, z.ZodMiniOptional<z.ZodMiniNumber>>)),
    read: (body: Partial<Readonly<Record<Field, unknown>>> | undefined): Partial<AccountLimits> =>
      Object.fromEntries(
        all.flatMap(([field, name]) => {
          const value = body?.[field as Field];
          return value === undefined ? [] : [[name, value]];
        }),
      ),
  };
}

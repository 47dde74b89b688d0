import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { fieldErrors, onePerField } from '../../core/field-errors.ts';

/** What zod finds in a value, as the answer tells it. */
function errorsOf(schema: z.ZodType, value: unknown): string[] {
  const result = schema.safeParse(value, { reportInput: true });
  return result.success
    ? []
    : fieldErrors(result.error.issues).map(({ field, code, message }) => `${field} ${code}: ${message}`);
}

describe('the errors of a field', () => {
  it.each<[string, z.ZodType, unknown, string]>([
    ['a text that is missing', z.object({ a: z.string() }), {}, 'a required: required'],
    ['a text that is null', z.object({ a: z.string() }), { a: null }, 'a invalid_type: must be a string'],
    ['a body that is missing', z.string(), undefined, 'body required: required'],
    ['a number', z.object({ a: z.number() }), { a: 'x' }, 'a invalid_type: must be a number'],
    ['a list', z.object({ a: z.array(z.string()) }), { a: 1 }, 'a invalid_type: must be an array'],
    ['an object', z.object({ a: z.object({}) }), { a: 1 }, 'a invalid_type: must be an object'],
    ['an undefined', z.object({ a: z.undefined() }), { a: 1 }, 'a invalid_type: must be a undefined'],
    [
      'a text too long',
      z.object({ a: z.string().max(3) }),
      { a: 'four' },
      'a too_long: at most 3 characters',
    ],
    [
      'a text too short',
      z.object({ a: z.string().min(3) }),
      { a: 'ab' },
      'a too_short: at least 3 characters',
    ],
    [
      'a list too long',
      z.object({ a: z.array(z.string()).max(1) }),
      { a: ['x', 'y'] },
      'a too_many: at most 1 items',
    ],
    [
      'a list too short',
      z.object({ a: z.array(z.string()).min(2) }),
      { a: ['x'] },
      'a too_small: at least 2 items',
    ],
    ['a number too large', z.object({ a: z.number().max(3) }), { a: 4 }, 'a too_big: at most 3'],
    ['a number too small', z.object({ a: z.number().min(3) }), { a: 2 }, 'a too_small: at least 3'],
    [
      'a word that is not in the list',
      z.object({ a: z.enum(['x', 'y']) }),
      { a: 'z' },
      'a invalid_value: must be one of "x", "y"',
    ],
    [
      'a check of our own',
      z.object({ a: z.string().refine(() => false, { error: 'not so', params: { code: 'our_code' } }) }),
      { a: 'z' },
      'a our_code: not so',
    ],
    [
      'a check of our own without a code',
      z.object({ a: z.string().refine(() => false, 'not so') }),
      { a: 'z' },
      'a invalid: not so',
    ],
    [
      'every other finding of zod',
      z.object({ a: z.string().regex(/^x$/, 'must be x') }),
      { a: 'z' },
      'a invalid: must be x',
    ],
    [
      'an unknown field below another',
      z.object({ a: z.strictObject({}) }),
      { a: { b: 1 } },
      'a.b unknown_field: not a field of this request',
    ],
    [
      'an item of a list below a field',
      z.object({ a: z.array(z.object({ b: z.string() })) }),
      { a: [{ b: 'x' }, { b: 1 }] },
      'a[1].b invalid_type: must be a string',
    ],
    ['an item of a body that is a list', z.array(z.string()), ['x', 1], '[1] invalid_type: must be a string'],
  ])('An error of a field says what is wrong with %s', (_what, schema, value, line) => {
    expect(errorsOf(schema, value)).toEqual([line]);
  });

  it('Only the first error of each field remains, and the errors keep their order', () => {
    const a = { field: 'a', code: 'one', message: '1' };
    const b = { field: 'b', code: 'two', message: '2' };
    const c = { field: 'a', code: 'three', message: '3' };
    expect(onePerField([a, b, c])).toEqual([a, b]);
  });
});

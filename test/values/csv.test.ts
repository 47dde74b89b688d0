import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { csvLine, plainCell } from '../../service/values/csv.ts';
import { fieldErrors, onePerField } from '../../service/values/problem.ts';
import { randomBase62, toBase62 } from '../../service/values/ids.ts';
import { asMicros } from '../../service/values/money.ts';
import { asciiLower, characters } from '../../service/values/text.ts';

describe('a line of CSV', () => {
  it('Money has six decimals, nothing is an empty field, and a number below zero is no formula', () => {
    const cells = ['day', 3, -4, null, { usd: asMicros(-40_000) }, { usd: asMicros(1) }] as const;
    expect(csvLine(cells)).toBe('day,3,-4,,-0.040000,0.000001');
  });

  it.each([
    ['a,b', '"a,b"'],
    ['he said "yes"', '"he said ""yes"""'],
    ['two\nlines', '"two\nlines"'],
    ['two\r\nlines', '"two\r\nlines"'],
    [' spaces stay ', ' spaces stay '],
    ['', ''],
  ])('The text %j is quoted as RFC 4180 says: %j', (text, field) => {
    expect(csvLine([text])).toBe(field);
  });

  it.each([
    ['=HYPERLINK("https://attacker.test")', `"'=HYPERLINK(""https://attacker.test"")"`],
    ['+41 79 000 00 00', "'+41 79 000 00 00"],
    ['-1', "'-1"],
    ['@SUM(A1:A9)', "'@SUM(A1:A9)"],
    ['\t=1', `"\t'=1"`],
    ['\r=1', `"\r'=1"`],
    ['＝1+1', "'＝1+1"],
    ["'tis", "''tis"],
    ['x;=HYPERLINK("https://attacker.test")', `"x;'=HYPERLINK(""https://attacker.test"")"`],
    ['x,=1', `"x,'=1"`],
    ['x\t=1', `"x\t'=1"`],
    ['x|@SUM(A1)', `"x|'@SUM(A1)"`],
    ['x\n+1', `"x\n'+1"`],
    ['x;"=1', `"x;'""=1"`],
    ['x;－1', `"x;'－1"`],
    ["x;'a", `"x;''a"`],
    ['x;y', '"x;y"'],
    ['a=1', 'a=1'],
    ['user-7@example.test', 'user-7@example.test'],
  ])('The text %j of a client is no formula in a spreadsheet', (text, field) => {
    expect(csvLine([text])).toBe(field);
  });

  it('A reader that knows the rules gets every text back', () => {
    const texts = fc.array(
      fc.oneof(
        fc.string(),
        fc.string({
          unit: fc.constantFrom('=', "'", '"', '+', ',', ';', '|', '\t', '-', '@', '\n', ' ', 'a'),
        }),
      ),
      {
        minLength: 1,
        maxLength: 5,
      },
    );
    fc.assert(
      fc.property(texts, (fields) => {
        expect(fieldsOf(csvLine(fields)).map(plain)).toEqual(fields);
      }),
    );
  });

  it.each([';', '|', '\t'])('A spreadsheet that separates by %j finds no formula', (separator) => {
    const unit = fc.constantFrom('=', "'", '"', '+', ',', '-', '@', '\n', '\r', ';', '|', '\t', ' ', 'a');
    const texts = fc.array(fc.string({ unit }), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(texts, (fields) => {
        // The worst reader: it knows no quotes at all.
        const found = csvLine(fields)
          .split(/[\r\n]/)
          .flatMap((line) => line.split(separator))
          .filter((cell) => /^"*[=+\-@]/.test(cell));
        expect(found).toEqual([]);
      }),
    );
  });

  it('A table and JSON show the same values, with money as a number', () => {
    expect(['a', 2, null, { usd: asMicros(1) }].map(plainCell)).toEqual(['a', 2, null, 0.000_001]);
  });
});

/** Without what keeps a text from being a formula. */
function plain(field: string): string {
  return field.replaceAll(/(^|[;,|\t\r\n])'/g, '$1');
}

/** A reader of RFC 4180, by the letter. */
function fieldsOf(line: string): string[] {
  const fields = [...`,${line}`.matchAll(/,(?:"((?:[^"]|"")*)"|([^",\r\n]*))/g)];
  return fields.map(([, quoted, bare]) => quoted?.replaceAll('""', '"') ?? bare ?? '');
}

const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

describe('base62', () => {
  it.each([
    [0n, 1, '0'],
    [9n, 1, '9'],
    [10n, 1, 'A'],
    [35n, 1, 'Z'],
    [36n, 1, 'a'],
    [61n, 1, 'z'],
    [62n, 2, '10'],
    [62n ** 6n - 1n, 6, 'zzzzzz'],
    [1n, 6, '000001'],
  ])('The number %d in %d places of base62 is %s', (value, places, text) => {
    expect(toBase62(value, places)).toBe(text);
  });

  it('A number keeps its value in base62', () => {
    const read = (text: string): bigint =>
      Array.from(text).reduce((sum, digit) => sum * 62n + BigInt(digits.indexOf(digit)), 0n);
    fc.assert(
      fc.property(
        fc.bigInt({ min: 0n, max: 62n ** 10n - 1n }),
        (value) => read(toBase62(value, 10)) === value,
      ),
    );
  });
});

describe('a random base62 text', () => {
  it('A random base62 text skips bytes of 248 and above, and asks for more bytes', () => {
    const source = [Uint8Array.of(248, 255, 0), Uint8Array.of(61, 247, 1)];
    expect(randomBase62(3, () => source.shift() ?? new Uint8Array(3))).toBe('0zz');
  });

  it('Exactly four of the 248 byte values make each digit of a random base62 text', () => {
    const all = Uint8Array.from({ length: 256 }, (_, byte) => byte);
    const counts = Map.groupBy(
      randomBase62(248, () => all),
      (digit) => digit,
    );
    expect([...counts.values()].map((found) => found.length)).toEqual(Array<number>(62).fill(4));
  });
});

describe('the length of a text', () => {
  it.each([
    ['', 0],
    ['abc', 3],
    ['é', 1],
    ['e\u0301', 2],
    ['日本', 2],
    ['😀', 1],
    ['👩‍🚀', 3],
    ['\ud83d', 1],
  ])('The length of %j is %i code points', (text, length) => {
    expect(characters(text)).toBe(length);
  });
});

describe('a text in lower case', () => {
  it('Only A to Z change, and every other character stays as it is', () => {
    const changed: string[] = [];
    for (let point = 0; point <= 0x10_ff_ff; point += 1) {
      const character = String.fromCodePoint(point);
      if (asciiLower(character) !== character) changed.push(character);
    }
    expect(changed.join('')).toBe('ABCDEFGHIJKLMNOPQRSTUVWXYZ');
    expect(asciiLower('Owner@ACME.test')).toBe('owner@acme.test');
  });
});

/** What zod finds in a value, as the answer says it. */
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
    const a = { field: 'a', code: 'required', message: '1' } as const;
    const b = { field: 'b', code: 'too_big', message: '2' } as const;
    const c = { field: 'a', code: 'too_small', message: '3' } as const;
    expect(onePerField([a, b, c])).toEqual([a, b]);
  });
});

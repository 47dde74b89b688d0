import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { csvLine, plainCell } from '../../core/csv.ts';
import { asMicros } from '../../core/money.ts';

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

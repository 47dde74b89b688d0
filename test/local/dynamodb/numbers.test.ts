import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { add, compareNumbers, normalNumber, subtract } from '../../../local/dynamodb/numbers.ts';
import { compareTexts } from '../../../local/dynamodb/values.ts';

describe('Numbers', () => {
  it.each([
    ['1.50', '1.5'],
    ['-0', '0'],
    ['+5', '5'],
    ['5.', '5'],
    ['.5', '0.5'],
    ['007', '7'],
    ['1e3', '1000'],
    ['1E-3', '0.001'],
    ['123456789012345678901234567890.5', '123456789012345678901234567890.5'],
  ])('%s is kept as %s', (text, kept) => {
    expect(normalNumber(text)).toBe(kept);
    expect(normalNumber(kept)).toBe(kept);
  });

  it.each(['', ' 1', '1 ', 'abc', '0x1', '1e', '--1', 'NaN', 'Infinity', '1_000'])(
    '%j is no number',
    (text) => {
      expect(() => normalNumber(text)).toThrow('cannot be converted into a number');
    },
  );

  const wholes = fc.bigInt({ min: -(10n ** 37n), max: 10n ** 37n });

  it('Sums, differences and the order of whole numbers are exact up to 38 digits', () => {
    fc.assert(
      fc.property(wholes, wholes, (left, right) => {
        const [one, other] = [String(left), String(right)];
        expect(add(one, other)).toBe(String(left + right));
        expect(subtract(one, other)).toBe(String(left - right));
        expect(Math.sign(compareNumbers(one, other))).toBe(left < right ? -1 : left > right ? 1 : 0);
      }),
      { seed: 1 },
    );
  });

  it('A sum of more than 38 digits is refused', () => {
    expect(add('99999999999999999999999999999999999999', '1')).toBe(`1${'0'.repeat(38)}`);
    expect(() => add('99999999999999999999999999999999999999', '0.5')).toThrow('up to 38 digits');
    expect(() => add(normalNumber('9.9e125'), normalNumber('9.9e125'))).toThrow('Number overflow');
  });
});

describe('Texts', () => {
  it('The order of texts is the order of their bytes in UTF-8', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', 'é', '\ud7ff', '\ue000', '\uffff', '😀', '𐀀') });
    fc.assert(
      fc.property(text, text, (left, right) => {
        const bytes = Buffer.compare(Buffer.from(left), Buffer.from(right));
        expect(Math.sign(compareTexts(left, right))).toBe(bytes);
      }),
      { seed: 1, numRuns: 500 },
    );
  });
});

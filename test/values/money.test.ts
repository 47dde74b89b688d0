import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { asMicros, formatUsd, fromUsd, parseUsd, toUsd } from '../../service/values/money.ts';

const largest = 1_000_000_000 * 1_000_000;
const sums = fc.integer({ min: -largest, max: largest }).map(asMicros);

describe('an amount typed by an operator', () => {
  it.each([
    ['0', 0],
    ['25', 25_000_000],
    ['0.04', 40_000],
    ['0.000001', 1],
    [' 1.50 ', 1_500_000],
    ['-3.25', -3_250_000],
    ['1000000000', largest],
    ['0.1', 100_000],
    ['00.3', 300_000],
  ])('The text %j is an amount of %d micro-dollars', (text, micros) => {
    expect(parseUsd(text)).toBe(micros);
  });

  it.each([
    '',
    '-',
    '.5',
    '5.',
    '1,5',
    '1e3',
    '0.0000001',
    'NaN',
    'Infinity',
    '+1',
    '1000000000.000001',
    '99999999999',
    '0x10',
    '1 2',
  ])('The text %j is not an amount', (text) => {
    expect(parseUsd(text)).toBeUndefined();
  });

  it('An amount is never a negative zero', () => {
    expect(Object.is(parseUsd('-0'), 0)).toBe(true);
  });
});

describe('money', () => {
  it('An amount is unchanged after it was written as text and read again', () => {
    fc.assert(fc.property(sums, (micros) => parseUsd(formatUsd(micros).replace(' USD', '')) === micros + 0));
  });

  it('An amount is unchanged after it was written as a number of USD and read again', () => {
    fc.assert(fc.property(sums, (micros) => fromUsd(toUsd(micros)) === micros + 0));
  });

  it('An amount has at most six decimals as a JSON number', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1_000_000_000 }), (micros) => {
        expect(Number(toUsd(asMicros(micros)).toFixed(6))).toBe(toUsd(asMicros(micros)));
      }),
    );
  });

  it.each([
    [0, '0.00 USD'],
    [40_000, '0.04 USD'],
    [1, '0.000001 USD'],
    [1_500_000, '1.50 USD'],
    [1_234_500, '1.2345 USD'],
    [-3_250_000, '-3.25 USD'],
  ])('An amount of %d micro-dollars is written as %j', (micros, text) => {
    expect(formatUsd(asMicros(micros))).toBe(text);
  });

  it('Amounts add up exactly where floating-point numbers do not', () => {
    expect(toUsd(asMicros(fromUsd(0.1) + fromUsd(0.2)))).toBe(0.3);
  });

  it('A USD number that a float holds a little too small is rounded', () => {
    expect(0.000249 * 1_000_000).toBeLessThan(249);
    expect(fromUsd(0.000249)).toBe(249);
  });

  it.each([0.5, NaN, Infinity, 2 ** 53])(
    'The number %d is refused as an amount of micro-dollars',
    (value) => {
      expect(() => asMicros(value)).toThrow('micro-dollars');
    },
  );

  it.each([0.000_000_1, 0.123_456_7, 1 / 3])('The number %d is refused as an amount of USD', (value) => {
    expect(() => fromUsd(value)).toThrow('6 decimals');
  });
});

/** Figures of a vendor's answer, turned into money or left out. */
import { describe, expect, it } from 'vitest';
import { billedTokens, billedUnits, billedUsd, type TokenCounts } from '../../core/billed-cost.ts';
import { asMicros, fromUsd } from '../../core/money.ts';

/** What no vendor bills for a picture. */
const nonsense = [
  -1,
  -0.000_001,
  NaN,
  Infinity,
  1e12,
  1e308,
  undefined,
  null,
  true,
  [],
  {},
  'many',
  '',
  '-3',
  '1e3',
  ' 3',
];

describe('an amount in USD', () => {
  it.each([
    [0, 0],
    [0.02, 20_000],
    [0.000_000_4, 0],
    [0.123_456_7, 123_457],
    [100, 100_000_000],
  ])('%d USD are %d micro-dollars', (usd, micros) => expect(billedUsd(usd)).toBe(micros));

  it.each([...nonsense, '0.02', 100.01])('%j is no bill', (usd) => expect(billedUsd(usd)).toBeUndefined());
});

describe('a number of units', () => {
  it.each([
    [4, 20_000],
    ['1.5', 7_500],
    ['0', 0],
    [3.008, 15_040],
  ])('%j units at 0.005 USD are %d micro-dollars', (units, micros) =>
    expect(billedUnits(units, fromUsd(0.005))).toBe(micros),
  );

  it.each(nonsense)('%j units are no bill', (units) =>
    expect(billedUnits(units, fromUsd(0.005))).toBeUndefined(),
  );

  it('Units without a price are no bill', () => expect(billedUnits(4, undefined)).toBeUndefined());
});

describe('a number of tokens', () => {
  const prices = { text_in: 5, image_in: 8, image_out: 30, text_out: null };
  const counts: TokenCounts = { text_in: 14, image_in: 100, image_out: 196, text_out: 0 };

  it('Each kind of token has its price', () => {
    expect(billedTokens(counts, prices)).toBe(asMicros(14 * 5 + 100 * 8 + 196 * 30));
    expect(billedTokens({ ...counts, text_out: 10 }, { ...prices, text_out: 7.5 })).toBe(
      asMicros(14 * 5 + 100 * 8 + 196 * 30 + 75),
    );
  });

  it.each(['text_in', 'image_in', 'image_out', 'text_out'])('Nonsense for %s is no bill', (name) => {
    for (const value of nonsense) expect(billedTokens({ ...counts, [name]: value }, prices)).toBeUndefined();
  });

  it('No tokens of a picture, text that has no price, and tokens without prices are no bill', () => {
    expect(billedTokens({ ...counts, image_out: 0 }, prices)).toBeUndefined();
    expect(billedTokens({ ...counts, text_out: 1 }, prices)).toBeUndefined();
    expect(billedTokens(counts, undefined)).toBeUndefined();
  });
});

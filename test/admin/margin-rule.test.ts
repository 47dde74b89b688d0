import { describe, expect, it } from 'vitest';
import { leastPriceMicros } from '../../admin/catalog/margin-rule.ts';
import { asMicros } from '../../core/money.ts';

describe('the margin rule', () => {
  it.each([
    ['nothing', 0, 0],
    ['one micro-dollar', 1, 5_000],
    ['a cost whose price is a half cent already', 75_000, 105_000],
    ['one micro-dollar more', 75_001, 110_000],
    ['a cost of many cents', 711_570, 1_000_000],
  ])('%s that costs %i is sold for at least %i', (_what, cost, least) => {
    expect(leastPriceMicros(asMicros(cost))).toBe(least);
  });
});

/** Ranges that are cut at both ends, on 10,000 draws. */
import { describe } from 'vitest';
import { provesRanges } from './range-facts.ts';

describe.each(Array.from({ length: 10 }, (_, place) => place + 2))('a thousand draws of seed %i', (seed) => {
  provesRanges(1_000, seed);
});

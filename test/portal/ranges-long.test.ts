/** Ranges that are cut at both ends, on thousands of draws. */
import { describe } from 'vitest';
import { provesRanges } from './range-facts.ts';

/** `RANGE_SEEDS=10 npm test -- test/portal/ranges-long` draws more. */
const seeds = Number(process.env['RANGE_SEEDS'] ?? 3);

describe.each(Array.from({ length: seeds }, (_, place) => place + 2))(
  'a thousand draws of seed %i',
  (seed) => {
    provesRanges(1_000, seed);
  },
);

/** A year with 100,000 rows of the ledger and all of its creations, for the tests that only CI runs. */
import { expect, it } from 'vitest';
import { generateYear } from './generated-year.ts';
import { expectSameSums } from './same-sums.ts';

it('Home, wallet, usage, the files and the audit tell the same sums of 100,000 rows', async () => {
  const year = generateYear();
  expect(year.expected.rows).toBeGreaterThan(99_900);
  await expectSameSums(year);
});

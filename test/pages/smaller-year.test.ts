/** The same sums on every page, with a year that `npm test` has time for. */
import { it } from 'vitest';
import { generateYear } from './generated-year.ts';
import { expectSameSums } from './same-sums.ts';

it('Home, wallet, usage, the files and the audit show the same sums of 5,000 rows', async () => {
  await expectSameSums(generateYear(5_000));
});

/**
 * The audit of a table at work. The items of an account are not read at one instant, so that books differ
 * when money moves between two reads. Only a difference that lasts is an error.
 */
import type { AccountId } from './ids.ts';
import { auditAccount, type AccountBooks } from './ledger.ts';

/**
 * How often the books of an account are looked at. One look that finds them balanced is proof, since every
 * movement of money keeps them balanced.
 */
const looks = 4;

/** The pause before a further look, and the read of the books. */
export interface FurtherLooks {
  readonly pause: () => Promise<void>;
  readonly books: (account: AccountId) => Promise<readonly AccountBooks[]>;
}

/** The books that differ at every look, as the last look found them. */
export async function lastingDifferences(
  read: readonly AccountBooks[],
  { pause, books }: FurtherLooks,
): Promise<readonly AccountBooks[]> {
  let suspects = read.filter(differs);
  for (let look = 2; look <= looks && suspects.length > 0; look += 1) {
    await pause();
    const again = await Promise.all(suspects.map(async ({ accountId }) => books(accountId)));
    suspects = again.flat().filter(differs);
  }
  return suspects;
}

function differs(books: AccountBooks): boolean {
  return auditAccount(books).length > 0;
}

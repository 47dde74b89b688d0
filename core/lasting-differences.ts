/** An audit of a table at work: books are read in no single instant, and what moved meanwhile differs. */
import type { AccountId } from './ids.ts';
import { auditAccount, type AccountBooks } from './ledger.ts';

/** What differs is looked at again, as often. One clean look is proof, since every movement keeps the books balanced. */
const looks = 4;

/** How a further look is taken. */
export interface FurtherLooks {
  readonly pause: () => Promise<void>;
  readonly books: (account: AccountId) => Promise<readonly AccountBooks[]>;
}

/** Of these books those that differ at every look, as they stand at the last one. */
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

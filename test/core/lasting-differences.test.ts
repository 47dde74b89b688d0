import { describe, expect, it } from 'vitest';
import type { AccountId } from '../../core/ids.ts';
import { lastingDifferences } from '../../core/lasting-differences.ts';
import type { AccountBooks } from '../../core/ledger.ts';
import { asMicros } from '../../core/money.ts';

const [first, second] = ['Acc0unt001' as AccountId, 'Acc0unt002' as AccountId];

/** The books of an account whose ledger is empty: they balance when nothing is available. */
function booksOf(accountId: AccountId, available: number): AccountBooks {
  return {
    accountId,
    availableMicros: asMicros(available),
    creditLineMicros: asMicros(0),
    inFlight: 0,
    creations: [],
    keys: [],
    ledger: [],
    userCounters: [],
    readAt: 0,
  };
}

describe('the differences that last', () => {
  /** Looks with what each further look finds; counts pauses and says whom each look was for. */
  async function look(read: readonly AccountBooks[], later: readonly (readonly number[])[]) {
    const asked: AccountId[] = [];
    let pauses = 0;
    const found = await lastingDifferences(read, {
      pause: async () => {
        await Promise.resolve();
        pauses += 1;
      },
      books: async (account) => {
        asked.push(account);
        const place = account === first ? 0 : 1;
        return Promise.resolve([booksOf(account, later[pauses - 1]?.[place] ?? 0)]);
      },
    });
    return { found, asked, pauses };
  }

  it('There are no differences when all books balance, and nothing is read again', async () => {
    expect(await look([booksOf(first, 0), booksOf(second, 0)], [])).toEqual({
      found: [],
      asked: [],
      pauses: 0,
    });
  });

  it('The books of an account that differ are read four times in all, and the last reading counts', async () => {
    expect(await look([booksOf(first, 1), booksOf(second, 0)], [[2], [3], [4], [5]])).toEqual({
      found: [booksOf(first, 4)],
      asked: [first, first, first],
      pauses: 3,
    });
  });

  it('There are no differences after one reading in which the books balance, and only books that differ are read again', async () => {
    expect(
      await look(
        [booksOf(first, 1), booksOf(second, 2)],
        [
          [0, 2],
          [0, 0],
        ],
      ),
    ).toEqual({ found: [], asked: [first, second, second], pauses: 2 });
  });
});

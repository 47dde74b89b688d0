/**
 * The audit of one account while the service works. Every movement of money keeps the books balanced, so one
 * comparison that finds something balanced is proof. Only a difference that every comparison finds is an error.
 */
import type { AccountId } from '../ids.ts';
import type { BooksReader } from '../ports/books.ts';
import type { Difference } from './books.ts';
import {
  lookAtAccount,
  type Compared,
  type Findings,
  type LookState,
  type OpenBooks,
} from './look-at-account.ts';

/** How often the counted books are compared, before they are counted again from the beginning. */
const comparisons = 4;

export interface AuditedAccount {
  readonly account: AccountId;
  readonly creations: number;
  readonly rows: number;
  readonly differences: readonly Difference[];
  /** False: money moved all the time, so that the stored sums were compared with nothing. */
  readonly isSettled: boolean;
}

export interface AccountAudit {
  readonly books: BooksReader;
  readonly nowMillis: () => number;
  /** Waits before a further comparison. */
  readonly pause: () => Promise<void>;
  /** True when no further page may be read. */
  readonly isTimeUp: () => boolean;
}

/**
 * @param from what an earlier run was in the middle of
 * @returns the state to go on with, if the time was up in the middle of the ledger
 */
export async function auditAccount(
  account: AccountId,
  audit: AccountAudit,
  from?: LookState,
): Promise<AuditedAccount | { readonly unfinished: LookState }> {
  const first = await lookAtAccount(account, { ...audit, remembered: new Set(), ...(from && { from }) });
  if (first.kind === 'unfinished') return { unfinished: first.state };
  const suspects = await compareAgain(first.books, audit);
  if (suspects.findings.size === 0) return resultOf(account, first.books, suspects);
  // The second count remembers the creations in question, and tells exactly what is wrong with them.
  const remembered = new Set(suspects.findings.keys());
  const second = await lookAtAccount(account, { ...audit, remembered });
  if (second.kind === 'unfinished') return resultOf(account, first.books, suspects);
  const again = await compareAgain(second.books, audit, suspects.findings);
  return resultOf(account, second.books, again);
}

/** Compares until nothing differs that has differed every time. */
async function compareAgain(
  books: OpenBooks,
  { pause }: AccountAudit,
  suspected?: Findings,
): Promise<Compared> {
  let left: Compared | undefined;
  for (let comparison = 1; comparison <= comparisons; comparison += 1) {
    if (comparison > 1) await pause();
    const { findings, isSettled } = await books.compare();
    left = {
      findings: inBoth(findings, left?.findings ?? suspected),
      isSettled: isSettled || left?.isSettled === true,
    };
    if (left.findings.size === 0 && left.isSettled) break;
  }
  if (!left) throw new Error('nothing was compared');
  return left;
}

/** The findings whose subject was found before, too. */
function inBoth(findings: Findings, before: Findings | undefined): Findings {
  return before ? new Map([...findings].filter(([subject]) => before.has(subject))) : findings;
}

function resultOf(account: AccountId, books: OpenBooks, { findings, isSettled }: Compared): AuditedAccount {
  return {
    account,
    creations: books.creations(),
    rows: books.rows(),
    differences: [...findings.values()].flatMap((found) => found.map((one) => ({ account, ...one }))),
    isSettled,
  };
}

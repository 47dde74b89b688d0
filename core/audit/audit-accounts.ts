/**
 * Audits all accounts, some at once, from a place in the list of accounts on. The progress that is kept is the
 * last account up to which every account is done, so that a run that ends anywhere passes over none.
 */
import type { AccountId } from '../ids.ts';
import type { BooksReader, ListedAccount } from '../ports/books.ts';
import { auditAccount, type AccountAudit, type AuditedAccount } from './audit-account.ts';
import type { LookState } from './look-at-account.ts';

/** Number of accounts read concurrently. */
const accountsAtOnce = 16;

/** How far the audit is. */
export interface AuditProgress {
  /** The place of the last account up to which all are done. Absent: none is. */
  readonly after?: string;
  readonly accounts: number;
  readonly creations: number;
  readonly rows: number;
  readonly differences: number;
  /** Accounts in which money moved all the time, so that their stored sums were compared with nothing. */
  readonly unsettled: number;
}

export const noProgress: AuditProgress = { accounts: 0, creations: 0, rows: 0, differences: 0, unsettled: 0 };

export interface AccountsAudit extends AccountAudit {
  /** Only this account. */
  readonly only?: AccountId;
  /** What an earlier run was in the middle of. */
  readonly started?: (account: AccountId) => Promise<LookState | undefined>;
  /** Receives each account that is done. A run that continues may report an account again. */
  readonly onAccount: (audited: AuditedAccount) => void;
  /** Receives the progress after each account, once all accounts before it are done. */
  readonly onProgress?: (progress: AuditProgress) => Promise<void> | void;
}

export interface AuditedPart {
  readonly progress: AuditProgress;
  /** Whether every account is done. */
  readonly isFinished: boolean;
  /** The accounts that were not done when the time was up. */
  readonly unfinished: readonly { readonly account: AccountId; readonly state: LookState }[];
}

/** One account of the list that was begun. */
interface Begun {
  readonly place: string;
  audited?: AuditedAccount;
}

export async function auditAccounts(audit: AccountsAudit, from: AuditProgress): Promise<AuditedPart> {
  const { books, isTimeUp, onAccount, onProgress, started } = audit;
  const accounts = listed(books, audit.only, from.after);
  const begun: Begun[] = [];
  const unfinished: { account: AccountId; state: LookState }[] = [];
  let progress = from;
  let isFinished = true;

  const lane = async (): Promise<void> => {
    for (;;) {
      const next = await accounts.next();
      if (next.done === true) return;
      if (isTimeUp()) {
        isFinished = false;
        return;
      }
      const one: Begun = { place: next.value.place };
      begun.push(one);
      const audited = await auditAccount(next.value.id, audit, await started?.(next.value.id));
      if ('unfinished' in audited) {
        isFinished = false;
        unfinished.push({ account: next.value.id, state: audited.unfinished });
        return;
      }
      one.audited = audited;
      onAccount(audited);
      const before = progress;
      progress = passed(progress, begun);
      if (progress !== before) await onProgress?.(progress);
    }
  };
  await Promise.all(Array.from({ length: accountsAtOnce }, lane));
  return { progress, isFinished, unfinished };
}

/** Takes the accounts that are done from the beginning of the list, and counts them. */
function passed(progress: AuditProgress, begun: Begun[]): AuditProgress {
  let sum = progress;
  for (let first = begun[0]; first?.audited; first = begun[0]) {
    const { creations, rows, differences, isSettled } = first.audited;
    sum = {
      after: first.place,
      accounts: sum.accounts + 1,
      creations: sum.creations + creations,
      rows: sum.rows + rows,
      differences: sum.differences + differences.length,
      unsettled: sum.unsettled + (isSettled ? 0 : 1),
    };
    begun.shift();
  }
  return sum;
}

/** One account after the other, for the next free reader. */
async function* listed(
  books: BooksReader,
  only: AccountId | undefined,
  after: string | undefined,
): AsyncGenerator<ListedAccount> {
  if (only !== undefined) yield { id: only, place: '' };
  else for await (const page of books.accounts(after)) yield* page;
}

/** Audits all accounts after a given account. The progress is the last account before which all are done. */
import { type AccountId, timeOfUuidV7 } from '../values/ids.ts';
import type { BooksReader, ListedAccount } from './books-reads.ts';
import type { Difference, Finding } from './books.ts';
import { closableMonth, type Closing, closingDifferences, endOfMonth } from './closings.ts';
import {
  type Compared,
  type Findings,
  checkAccount,
  type CheckState,
  type OpenBooks,
} from './check-account.ts';

// The audit of one account while the service works. Every movement of money keeps the books balanced, so one
// comparison that finds something balanced is proof. Only a difference that every comparison finds is an error.

/** How often the counted books are compared, before they are counted again from the beginning. */
const comparisons = 4;

export interface AuditedAccount {
  readonly account: AccountId;
  readonly creations: number;
  readonly rows: number;
  readonly differences: readonly Difference[];
  /** False: money moved all the time, so the stored sums could not be compared. */
  readonly isSettled: boolean;
}

/**
 * How closing balances are used. 'trusted': the count begins at the newest one. 'compared': the whole ledger is counted,
 * and an account that balances is closed. 'renewed': as 'compared', and each stored one is replaced.
 */
export type ClosingUse = 'trusted' | 'compared' | 'renewed';

interface AccountAudit {
  readonly books: BooksReader;
  readonly closings: {
    readonly use: ClosingUse;
    readonly read: (account: AccountId) => Promise<readonly Closing[]>;
    /** Absent: nothing is written. */
    readonly write?: (account: AccountId, closing: Closing) => Promise<void>;
  };
  readonly nowMillis: () => number;
  readonly pause: () => Promise<void>;
  readonly isTimeUp: () => boolean;
}

/** @param from the unfinished state of an earlier run @returns the unfinished state when the time was up */
export async function auditAccount(
  account: AccountId,
  audit: AccountAudit,
  from?: CheckState,
): Promise<AuditedAccount | { readonly unfinished: CheckState }> {
  const closings = await audit.closings.read(account);
  const closed = from ? from.closed : audit.closings.use === 'trusted' ? closings.at(-1) : undefined;
  const first = await checkAccount(account, { ...audit, closed, ...(from && { from }) });
  if (first.kind === 'unfinished') return { unfinished: first.state };
  const suspects = await compareAgain(first.books, audit);
  if (suspects.findings.size === 0)
    return closed
      ? resultOf(account, first.books, suspects)
      : wholeResult(account, closings, first.books, suspects, audit);
  // The second count reads the whole account again, keeps the suspect creations, and names each wrong detail.
  const remembered = new Set(suspects.findings.keys());
  const second = await checkAccount(account, { ...audit, remembered });
  if (second.kind === 'unfinished') return resultOf(account, first.books, suspects);
  const again = await compareAgain(second.books, audit, suspects.findings);
  return wholeResult(account, closings, second.books, again, audit);
}

/** Compares the closing balances with a whole count, and closes the account if it balances. */
async function wholeResult(
  account: AccountId,
  closings: readonly Closing[],
  books: OpenBooks,
  compared: Compared,
  { closings: { use, write }, nowMillis }: AccountAudit,
): Promise<AuditedAccount> {
  const isRenewed = use === 'renewed';
  const wrong = isRenewed
    ? []
    : closings.flatMap((stored) => closingDifferences(books.closingOf(stored.month), stored));
  const result = resultOf(account, books, compared, wrong);
  if (!write || use === 'trusted' || result.differences.length > 0 || !result.isSettled) return result;
  const next = books.closingOf(closableMonth(nowMillis()));
  const last = closings.at(-1);
  // An account without a new row keeps its closing balance.
  const isNew = next.month > (last?.month ?? '') && next.rows > (last?.rows ?? 0);
  const wanted = [
    ...(isRenewed ? closings.map(({ month }) => books.closingOf(month)) : []),
    ...(isNew ? [next] : []),
  ];
  const isOver = ({ month }: Closing): boolean =>
    books.open().every((id) => (timeOfUuidV7(id) ?? 0) >= endOfMonth(month));
  for (const closing of wanted.filter(isOver)) await write(account, closing);
  return result;
}

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

function inBoth(findings: Findings, before: Findings | undefined): Findings {
  return before ? new Map([...findings].filter(([subject]) => before.has(subject))) : findings;
}

function resultOf(
  account: AccountId,
  books: OpenBooks,
  { findings, isSettled }: Compared,
  wrong: readonly Finding[] = [],
): AuditedAccount {
  return {
    account,
    creations: books.creations(),
    rows: books.rows(),
    differences: [...[...findings.values()].flat(), ...wrong].map((one) => ({ account, ...one })),
    isSettled,
  };
}

const accountsAtOnce = 16;

export interface AuditProgress {
  /** The position of the last account up to which all are done. Absent: none is. */
  readonly after?: string;
  readonly accounts: number;
  readonly creations: number;
  readonly rows: number;
  readonly differences: number;
  /** Accounts in which money moved all the time, so their stored sums could not be compared. */
  readonly unsettled: number;
}

export const noProgress: AuditProgress = { accounts: 0, creations: 0, rows: 0, differences: 0, unsettled: 0 };

export interface AccountsAudit extends AccountAudit {
  readonly only?: AccountId;
  readonly started?: (account: AccountId) => Promise<CheckState | undefined>;
  /** Receives each account that is done. A run that continues may report an account again. */
  readonly onAccount: (audited: AuditedAccount) => void;
  /** Receives the progress after each account, once all accounts before it are done. */
  readonly onProgress?: (progress: AuditProgress) => Promise<void> | void;
}

export interface AuditedPart {
  readonly progress: AuditProgress;
  readonly isFinished: boolean;
  readonly unfinished: readonly { readonly account: AccountId; readonly state: CheckState }[];
}

interface Begun {
  readonly place: string;
  audited?: AuditedAccount;
}

export async function auditAccounts(audit: AccountsAudit, from: AuditProgress): Promise<AuditedPart> {
  const { books, isTimeUp, onAccount, onProgress, started } = audit;
  const accounts = listed(books, audit.only, from.after);
  const begun: Begun[] = [];
  const unfinished: { account: AccountId; state: CheckState }[] = [];
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

async function* listed(
  books: BooksReader,
  only: AccountId | undefined,
  after: string | undefined,
): AsyncGenerator<ListedAccount> {
  if (only !== undefined) yield { id: only, place: '' };
  else for await (const page of books.accounts(after)) yield* page;
}

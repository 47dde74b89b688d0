/**
 * The daily audit compares every balance and every creation with the ledger while the service works. The
 * audit repairs nothing: an operator has to understand a difference first.
 *
 * The schedule starts the function every quarter of an hour. The first start of a day begins a run, and each
 * start continues with a run that is not finished, so that the size of the books does not matter.
 *
 * Once a month a run counts every ledger as a whole and closes the month. The others begin at the closing balances.
 */
import type { AccountId } from '../values/ids.ts';
import {
  auditAccounts,
  type AuditedAccount,
  type AuditedPart,
  type AuditProgress,
} from './audit-accounts.ts';
import type { AuditLock } from './audit-run-store.ts';
import { type AuditRun, finished } from './audit-run.ts';
import type { AuditServices } from './open.ts';

const retryMillis = 15_000;
/** The time that is kept for comparing the accounts whose ledgers are read. */
const reserveMillis = 120_000;
const saveMillis = 15_000;
/** The lock ends after Lambda has ended the function for certain. */
const lockReserveMillis = 5_000;
/** How many differences of an account its log line lists. `admin audit` lists all of them. */
const mostListed = 20;

export type AuditReport =
  | (Omit<AuditProgress, 'after'> & { readonly isFinished: boolean })
  | { readonly outcome: 'idle' | 'lost' };

/** @param holder names this invocation @param timeLeft the milliseconds until Lambda ends the function */
export async function auditBooks(
  services: AuditServices,
  holder: string,
  timeLeft: () => number,
): Promise<AuditReport> {
  const { clock, runs, log } = services;
  const begun = clock.now();
  const today = new Date(begun).toISOString().slice(0, 10);
  const lock = { holder, untilMillis: begun + timeLeft() + lockReserveMillis };
  const run = await runs.take(today, lock, begun);
  if (run === 'none') return { outcome: 'idle' };
  const part = await auditPart(run, lock, services, timeLeft);
  if (part === 'lost') return lost(services, run);
  const { progress, isFinished, unfinished } = part;
  const interrupted: AccountId[] = [];
  for (const { account, state } of unfinished)
    if (await runs.keep(account, state, clock.now())) interrupted.push(account);
  const free = { holder, untilMillis: 0 };
  const next = { ...run, progress, interrupted };
  const finishedAt = new Date(clock.now()).toISOString();
  if (!(await runs.save(isFinished ? finished(next, finishedAt) : next, free))) return lost(services, run);
  const { after: _after, ...counts } = progress;
  const { day, startedAt, isWhole } = run;
  log.info('books_audit_part', { day, ...counts, isFinished });
  if (isFinished) log.info('books_audited', { day, startedAt, isWhole, ...counts });
  return { ...counts, isFinished };
}

async function auditPart(
  run: AuditRun,
  lock: AuditLock,
  services: AuditServices,
  timeLeft: () => number,
): Promise<AuditedPart | 'lost'> {
  const { books, clock, closings, runs } = services;
  const interrupted = new Set(run.interrupted);
  const held = { isLost: false };
  let savedAt = clock.elapsed();
  const part = await auditAccounts(
    {
      books,
      closings: { ...closings, use: run.isWhole ? 'compared' : 'trusted' },
      nowMillis: () => clock.now(),
      pause: async () => clock.sleep(retryMillis),
      isTimeUp: () => held.isLost || timeLeft() < reserveMillis,
      started: async (account) => (interrupted.has(account) ? runs.read(account) : undefined),
      onAccount: (audited) => tell(audited, services),
      onProgress: async (progress) => {
        if (clock.elapsed() - savedAt < saveMillis) return;
        savedAt = clock.elapsed();
        if (!(await runs.save({ ...run, progress }, lock))) held.isLost = true;
      },
    },
    run.progress,
  );
  return held.isLost ? 'lost' : part;
}

function tell({ account, differences, isSettled }: AuditedAccount, { log }: AuditServices): void {
  if (differences.length > 0)
    log.alarm('books_out_of_balance', {
      accountId: account,
      count: differences.length,
      differences: differences.slice(0, mostListed),
    });
  if (!isSettled) log.info('account_not_settled', { accountId: account });
}

function lost({ log }: AuditServices, { day }: AuditRun): AuditReport {
  log.info('books_audit_lost', { day });
  return { outcome: 'lost' };
}

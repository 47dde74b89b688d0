/** Keeps how far the daily audit is, so that a run that was ended continues where it was. */
import type { AuditProgress } from '../audit/audit-accounts.ts';
import type { LookState } from '../audit/look-at-account.ts';
import type { AccountId } from '../ids.ts';

/** One audit of all accounts. Several invocations may work on it, one after the other. */
export interface AuditRun {
  /** The UTC day for which it was begun, "2026-11-21". */
  readonly day: string;
  /** RFC 3339. */
  readonly startedAt: string;
  readonly progress: AuditProgress;
  /** The accounts that were interrupted in the middle of their ledger. */
  readonly interrupted: readonly AccountId[];
  /** RFC 3339. Absent while accounts are left. */
  readonly finishedAt?: string;
}

/** The invocation that works on the run, and until when it excludes others. */
export interface AuditLock {
  readonly holder: string;
  readonly untilMillis: number;
}

/** Every function throws Overloaded when the table stayed busy. */
export interface AuditRunStore {
  /**
   * Takes the lock, and gives the run that is not finished, or a new run of this day. `none`: the run of this
   * day is finished, or somebody works on it.
   */
  take(day: string, lock: AuditLock, nowMillis: number): Promise<AuditRun | 'none'>;
  /** False: another holder has taken the run. A lock that ends now gives the run back. */
  save(run: AuditRun, lock: AuditLock): Promise<boolean>;
  /** Keeps the state of an interrupted account. False: it is too large, and the account begins again. */
  keep(account: AccountId, state: LookState, nowMillis: number): Promise<boolean>;
  read(account: AccountId): Promise<LookState | undefined>;
}

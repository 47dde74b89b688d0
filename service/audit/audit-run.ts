import type { AccountId } from '../values/ids.ts';
import { type AuditProgress, noProgress } from './audit-accounts.ts';

/** One audit of all accounts. Several invocations may work on it, one after the other. */
export interface AuditRun {
  /** The UTC day for which it was begun, "2026-11-21". */
  readonly day: string;
  /** RFC 3339. */
  readonly startedAt: string;
  readonly progress: AuditProgress;
  /** The accounts that were interrupted in the middle of their ledger. */
  readonly interrupted: readonly AccountId[];
  /** Whether every ledger is counted from its beginning: the first run from the second day of each month. */
  readonly isWhole: boolean;
  /** The month of the last whole run, "2026-11". */
  readonly wholeMonth?: string;
  /** RFC 3339. Absent while accounts are left. */
  readonly finishedAt?: string;
}

/** @param wholeMonth the month of the last whole run */
export function newRun(day: string, nowMillis: number, wholeMonth: string | undefined): AuditRun {
  const run = { day, startedAt: new Date(nowMillis).toISOString(), progress: noProgress, interrupted: [] };
  const isWhole = wholeMonth !== monthBefore(day);
  return { ...run, isWhole, ...(wholeMonth !== undefined && { wholeMonth }) };
}

/** The month that has a day before this one, "2026-11": on its second day it becomes the running month. */
function monthBefore(day: string): string {
  return new Date(Date.parse(day) - 86_400_000).toISOString().slice(0, 7);
}

/** A run that is finished. A whole one counts for its month. */
export function finished(run: AuditRun, finishedAt: string): AuditRun {
  return { ...run, finishedAt, ...(run.isWhole && { wholeMonth: monthBefore(run.day) }) };
}

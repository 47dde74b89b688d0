/** Clears alerts whose threshold is no longer passed, and sends those that are. */
import { getsNotices } from '../accounts/account.ts';
import { capKinds, capRules } from '../accounts/cap-kinds.ts';
import { webhookGraceMillis } from '../contract/limits.ts';
import type { CreationRecord } from '../creations/creation.ts';
import type { CommonServices } from '../platform/common.ts';
import type { AccountId, KeyId } from '../values/ids.ts';
import type { Micros } from '../values/money.ts';
import { type Clock, errorName, type RandomBytes } from '../values/runtime.ts';
import type { NoticeExecutions } from './notice-executions.ts';
import type { NoticeMarks } from './notice-store.ts';
import {
  unsentAlerts,
  type Checked,
  newNotice,
  type NoticeRecord,
  type RefusedFor,
  outdatedMarks,
  budgetToCheck,
} from './notice.ts';

export interface ThresholdServices {
  readonly clock: Clock;
  readonly randomBytes: RandomBytes;
  readonly notices: NoticeMarks;
  /** Absent: the reconciler starts the notices at its next run. */
  readonly noticeExecutions?: NoticeExecutions;
  /** What all keys of an account spent in a month. Absent: budgets are not checked. */
  readonly monthSpent?: (account: AccountId, month: string) => Promise<Micros>;
}

interface Subject {
  readonly accountId: AccountId;
  readonly keyId?: KeyId;
  readonly periods: Checked['periods'];
  /** The user whose spend is checked, in the period of the cap for each user. */
  readonly user?: string;
  readonly refused?: RefusedFor;
}

/** Whose thresholds a creation may have crossed: its account, and the key and the user that were charged. */
export function subjectOf(creation: CreationRecord): Subject {
  const { accountId, keyId, user } = creation;
  const periods = Object.fromEntries(
    capKinds.flatMap((cap) => {
      const period = capRules[cap].chargedPeriod(creation);
      return period === undefined ? [] : [[cap, period]];
    }),
  );
  return { accountId, keyId, periods, ...(user !== undefined && { user }) };
}

/**
 * Reads the account, the key and the counter of the user once. Writes only when an alert is to be sent or
 * cleared.
 * @returns the notices that this check sent
 */
export async function checkThresholds(
  subject: Subject,
  services: ThresholdServices,
): Promise<NoticeRecord[]> {
  const { accountId, keyId, periods, user, refused } = subject;
  const counter =
    user !== undefined && periods.user !== undefined ? { user, month: periods.user } : undefined;
  const found = await services.notices.readSpender(accountId, keyId, counter);
  if (!found) return [];
  for (const mark of outdatedMarks(found.account)) await services.notices.clear(found.account, mark);
  const budget = getsNotices(found.account) ? budgetToCheck(found.account, periods.monthly) : undefined;
  const spent = budget && (await services.monthSpent?.(accountId, budget.month));
  const ofBudget = spent !== undefined && { monthSpentMicros: spent };
  return sendAlerts({ ...found, periods, ...(refused && { refused }), ...ofBudget }, services);
}

/** Checks after the operator moved money. A check that breaks off is left to the next one. */
export async function checkAfterCommand(subject: Subject, services: ThresholdServices): Promise<void> {
  try {
    await checkThresholds(subject, services);
  } catch {
    // See above.
  }
}

async function sendAlerts(checked: Checked, services: ThresholdServices): Promise<NoticeRecord[]> {
  const { account } = checked;
  const { clock, randomBytes, notices, noticeExecutions: executions } = services;
  if (!getsNotices(account)) return [];
  const sent: NoticeRecord[] = [];
  for (const alert of unsentAlerts(checked)) {
    const nowMillis = clock.now();
    const dueAt = executions ? nowMillis + webhookGraceMillis : nowMillis;
    const made = { nowMillis, dueAt, randomBytes: randomBytes(16) };
    const notice = newNotice(account, alert, made);
    if (!(await notices.store(alert, notice))) continue;
    sent.push(notice);
    // A start that is refused or unclear is left to the reconciler.
    await executions?.start(notice.id, notice.executions);
  }
  return sent;
}

// Checks thresholds without failing the work of the caller.

/** False when the check failed. The alert then stays unmarked, and the next check sends its notice. */
export async function checkQuietly(
  subject: Subject,
  services: ThresholdServices & Pick<CommonServices, 'log'>,
): Promise<boolean> {
  const { accountId } = subject;
  const { log } = services;
  try {
    for (const { id: noticeId, type } of await checkThresholds(subject, services))
      log.info('notice_told', { noticeId, accountId, type });
    return true;
  } catch (error) {
    log.info('notices_not_looked_for', { accountId, error: errorName(error) });
    return false;
  }
}

/** Clears alerts whose threshold is no longer passed, and sends those that are. */
import { getsNotices } from '../accounts/account.ts';
import { capKinds, watchedCaps } from '../accounts/watched-caps.ts';
import { webhookGraceMillis } from '../contract/limits.ts';
import type { CreationRecord } from '../creations/creation.ts';
import type { CommonServices } from '../platform/common.ts';
import type { AccountId, KeyId } from '../values/ids.ts';
import type { Micros } from '../values/money.ts';
import { type Clock, errorName, type RandomBytes } from '../values/runtime.ts';
import type { NoticeExecutions } from './notice-executions.ts';
import type { NoticeMarks } from './notice-store.ts';
import {
  crossingsOf,
  type Looked,
  newNotice,
  type NoticeRecord,
  type RefusedFor,
  undoneMarks,
  untoldBudget,
} from './notice.ts';

export interface LookServices {
  readonly clock: Clock;
  readonly randomBytes: RandomBytes;
  readonly notices: NoticeMarks;
  /** Absent: the reconciler starts the notices at its next run. */
  readonly noticeExecutions?: NoticeExecutions;
  /** What all keys of an account spent in a month. Absent: budgets are not checked. */
  readonly monthSpent?: (account: AccountId, month: string) => Promise<Micros>;
}

interface Place {
  readonly accountId: AccountId;
  readonly keyId?: KeyId;
  readonly periods: Looked['periods'];
  /** The user whose spend is checked, in the period of the cap for each user. */
  readonly user?: string;
  readonly refused?: RefusedFor;
}

/** Whose thresholds a creation may have crossed: its account, and the key and the user that were charged. */
export function placeOf(creation: CreationRecord): Place {
  const { accountId, keyId, user } = creation;
  const periods = Object.fromEntries(
    capKinds.flatMap((cap) => {
      const period = watchedCaps[cap].chargedPeriod(creation);
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
export async function lookForCrossings(place: Place, services: LookServices): Promise<NoticeRecord[]> {
  const { accountId, keyId, periods, user, refused } = place;
  const counter =
    user !== undefined && periods.user !== undefined ? { user, month: periods.user } : undefined;
  const found = await services.notices.look(accountId, keyId, counter);
  if (!found) return [];
  for (const mark of undoneMarks(found.account)) await services.notices.takeBack(found.account, mark);
  const budget = getsNotices(found.account) ? untoldBudget(found.account, periods.monthly) : undefined;
  const spent = budget && (await services.monthSpent?.(accountId, budget.month));
  const ofBudget = spent !== undefined && { monthSpentMicros: spent };
  return tellCrossings({ ...found, periods, ...(refused && { refused }), ...ofBudget }, services);
}

/** Checks after the operator moved money. A check that breaks off is left to the next one. */
export async function lookAfterCommand(place: Place, services: LookServices): Promise<void> {
  try {
    await lookForCrossings(place, services);
  } catch {
    // See above.
  }
}

async function tellCrossings(looked: Looked, services: LookServices): Promise<NoticeRecord[]> {
  const { account } = looked;
  const { clock, randomBytes, notices, noticeExecutions: executions } = services;
  if (!getsNotices(account)) return [];
  const told: NoticeRecord[] = [];
  for (const crossing of crossingsOf(looked)) {
    const nowMillis = clock.now();
    const dueAt = executions ? nowMillis + webhookGraceMillis : nowMillis;
    const made = { nowMillis, dueAt, randomBytes: randomBytes(16) };
    const notice = newNotice(account, crossing, made);
    if (!(await notices.tell(crossing, notice))) continue;
    told.push(notice);
    // A start that is refused or unclear is left to the reconciler.
    await executions?.start(notice.id, notice.executions);
  }
  return told;
}

// Checks thresholds without failing the work of the caller.

/** False when the check failed. The alert then stays unmarked, and the next check sends its notice. */
export async function lookQuietly(
  place: Place,
  services: LookServices & Pick<CommonServices, 'log'>,
): Promise<boolean> {
  const { accountId } = place;
  const { log } = services;
  try {
    for (const { id: noticeId, type } of await lookForCrossings(place, services))
      log.info('notice_told', { noticeId, accountId, type });
    return true;
  } catch (error) {
    log.info('notices_not_looked_for', { accountId, error: errorName(error) });
    return false;
  }
}

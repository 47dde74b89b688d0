/**
 * Notices (docs/api.md, "Notices"): when an account is notified, and the body of each notice.
 *
 * A threshold alert is due when a stored amount has crossed its threshold and no mark says that a notice was
 * sent. One conditional transaction writes the mark and the notice, so each alert gives one notice, even when
 * several functions check at once. When the amount is back on the good side, the mark is removed, and the
 * next alert is sent.
 */
import type { Account, ApiKey } from '../accounts/account.ts';
import {
  type CapKind,
  capKinds,
  type UserSpend,
  shownPeriod,
  toldOf,
  capRules,
} from '../accounts/cap-kinds.ts';
import type { WebhookState } from '../creations/creation.ts';
import {
  type AccountId,
  type CreationId,
  executionName,
  type KeyId,
  newNoticeId,
  type NoticeId,
} from '../values/ids.ts';
import { asMicros, type Micros, toUsd } from '../values/money.ts';

/** The levels of key.cap_reached, in percent of the cap, the highest first. */
export const capLevels = [100, 80] as const;
export type CapLevel = (typeof capLevels)[number];
/** Number of failed attempts in a row, over all webhooks of an account, that causes one notice. */
export const failingAttempts = 10;

export type ThresholdAlert =
  | { readonly type: 'wallet.low'; readonly thresholdMicros: Micros }
  /** `neededMicros`: with so much available the wallet would not be empty. */
  | { readonly type: 'wallet.empty'; readonly neededMicros: Micros }
  | {
      readonly type: 'key.cap_reached';
      readonly apiKey: ApiKey;
      readonly user?: string;
      readonly cap: CapKind;
      readonly period: string;
      readonly level: CapLevel;
      readonly capMicros: Micros;
      readonly spentMicros: Micros;
      /** The alert holds while the period has spent at least this. */
      readonly leastMicros: Micros;
    }
  | { readonly type: 'webhook.failing'; readonly failures: number }
  | {
      readonly type: 'budget.reached';
      readonly month: string;
      readonly level: CapLevel;
      readonly budgetMicros: Micros;
      readonly spentMicros: Micros;
    };

export const noticeTypes = [
  'wallet.low',
  'wallet.empty',
  'key.cap_reached',
  'webhook.failing',
  'endpoint.failing',
  'endpoint.disabled',
  'budget.reached',
  'payment.received',
  'payment.failed',
  'payment.reversed',
] as const;

export type NoticeType = (typeof noticeTypes)[number];

export interface NoticeRecord {
  readonly id: NoticeId;
  readonly accountId: AccountId;
  /** `picture.copy`: no notice, but the work of a copy (service/copies), whose webhook is only the schedule. */
  readonly type: NoticeType | 'picture.copy';
  /** The creation whose picture is copied. Absent in a notice. */
  readonly copyOf?: CreationId;
  readonly createdAt: string;
  /** Schedule, address and body: the same as of a creation's webhook. */
  readonly webhook: WebhookState;
  readonly executions: number;
  readonly recoveries: number;
  /** Unix milliseconds of the reconciler's next check. Set until the notice is settled. */
  readonly dueAt?: number;
}

/** A refused request. It may cause an alert that the stored amounts alone do not cause. */
export type RefusedFor =
  | { readonly kind: 'balance'; readonly costMicros: Micros }
  | { readonly kind: 'cap'; readonly cap: CapKind; readonly costMicros: Micros };

export interface Checked {
  readonly account: Account;
  /** The key whose caps are checked. Absent: no cap can have been reached. */
  readonly apiKey?: ApiKey;
  /** The user whose spend is checked. Absent: no user's cap can have been reached. */
  readonly user?: UserSpend;
  /** The period of each cap that is checked. */
  readonly periods: Readonly<Partial<Record<CapKind, string>>>;
  readonly refused?: RefusedFor;
  /** What all keys of the account spent in the month of `periods`. Absent: the budget is not checked. */
  readonly monthSpentMicros?: Micros;
}

/** Every alert that is due and not marked as sent. The transaction that sends it checks again. */
export function unsentAlerts(checked: Checked): readonly ThresholdAlert[] {
  const { account } = checked;
  const { availableMicros: available, lowBalanceMicros: low, webhookFailures: failures = 0 } = account;
  const needed = checked.refused?.kind === 'balance' ? checked.refused.costMicros : asMicros(1);
  return [
    ...(low !== undefined && available < low && !account.toldLow
      ? [{ type: 'wallet.low', thresholdMicros: low } as const]
      : []),
    ...(available < needed && !account.toldEmpty
      ? [{ type: 'wallet.empty', neededMicros: needed } as const]
      : []),
    ...capKinds.flatMap((cap) => capAlert(checked, cap) ?? []),
    ...(failures >= failingAttempts && !account.toldFailing
      ? [{ type: 'webhook.failing', failures } as const]
      : []),
    ...(budgetAlert(checked) ?? []),
  ];
}

/** Undefined: this month needs no further notice about the budget, whatever is spent. */
export function budgetToCheck(
  { monthlyBudgetMicros: budgetMicros, toldBudget: told }: Account,
  month: string | undefined,
): { readonly month: string; readonly budgetMicros: Micros; readonly above: number } | undefined {
  if (budgetMicros === undefined || month === undefined) return undefined;
  if (!told || told.month < month) return { month, budgetMicros, above: 0 };
  // The check after a creation of the last month may come after one of this month.
  if (told.month > month) return undefined;
  const above = told.budgetMicros === budgetMicros ? told.level : 0;
  return above < 100 ? { month, budgetMicros, above } : undefined;
}

function budgetAlert({ account, periods, monthSpentMicros: spent }: Checked): ThresholdAlert[] | undefined {
  const open = budgetToCheck(account, periods.monthly);
  if (!open || spent === undefined) return undefined;
  const { month, budgetMicros, above } = open;
  const level = capLevels.find((one) => spent * 100 >= budgetMicros * one);
  if (level === undefined || level <= above) return undefined;
  return [{ type: 'budget.reached', month, level, budgetMicros, spentMicros: spent }];
}

/** The highest level that the spend of the period has reached and for which no notice was sent. */
function capAlert({ apiKey, user, periods, refused }: Checked, cap: CapKind): ThresholdAlert | undefined {
  const { capName, spentIn } = capRules[cap];
  const period = periods[cap];
  const capMicros = apiKey?.[capName];
  if (!apiKey || capMicros === undefined || period === undefined) return undefined;
  const spender = { apiKey, ...(user && { user }) };
  const spentMicros = spentIn(spender, period);
  if (spentMicros === undefined) return undefined;
  // A refused request reaches the cap as well: from this spend on, the cap does not cover its cost.
  const ofRequest =
    refused?.kind === 'cap' && refused.cap === cap ? capMicros - refused.costMicros + 1 : Infinity;
  const leastOf = (level: CapLevel): number => Math.min(Math.ceil((capMicros * level) / 100), ofRequest);
  const level = capLevels.find((one) => spentMicros >= leastOf(one));
  const told = toldOf(spender, cap, period);
  if (level === undefined || (told?.capMicros === capMicros && told.level >= level)) return undefined;
  return {
    type: 'key.cap_reached',
    apiKey,
    ...(cap === 'user' && user && { user: user.user }),
    cap,
    period,
    level,
    capMicros,
    spentMicros,
    leastMicros: asMicros(leastOf(level)),
  };
}

/** The marks of the wallet whose amount is back on the good side of the threshold. */
export function outdatedMarks(account: Account): readonly ('toldLow' | 'toldEmpty')[] {
  const { availableMicros: available, lowBalanceMicros: low, toldLow, toldEmpty } = account;
  return [
    ...(toldLow && (low === undefined || available >= low) ? (['toldLow'] as const) : []),
    ...(toldEmpty && available >= (toldEmpty.belowMicros ?? 1) ? (['toldEmpty'] as const) : []),
  ];
}

interface Made {
  readonly nowMillis: number;
  /** Unix milliseconds of the reconciler's check. */
  readonly dueAt: number;
  readonly randomBytes: Uint8Array;
}

/** The notice of a threshold alert. */
export function newNotice(account: Account, alert: ThresholdAlert, made: Made): NoticeRecord {
  return noticeOf(account, alert.type, partsOf(account, alert), made);
}

type NotifiedAccount = Pick<Account, 'id' | 'noticeUrl' | 'noticeEndpoints' | 'mailChoices'>;

/** A notice to everybody whom the account names. @param parts the members of its body beside those of every notice */
export function noticeOf(
  { id: accountId, noticeUrl, noticeEndpoints, mailChoices }: NotifiedAccount,
  type: NoticeType,
  parts: Readonly<Record<string, unknown>>,
  { nowMillis, dueAt, randomBytes }: Made,
): NoticeRecord {
  const id = newNoticeId(nowMillis, randomBytes);
  const createdAt = new Date(nowMillis).toISOString();
  return {
    id,
    accountId,
    type,
    createdAt,
    webhook: {
      url: noticeUrl ?? '',
      status: 'pending',
      attempts: 0,
      nextAt: nowMillis,
      body: noticeBody(type, id, createdAt, parts),
      ...((noticeEndpoints ?? mailChoices !== undefined) && { endpoints: {} }),
    },
    executions: 1,
    recoveries: 0,
    dueAt,
  };
}

/** The body of a notice, as every attempt sends it. */
export function noticeBody(
  type: NoticeType,
  id: NoticeId,
  createdAt: string,
  parts: Readonly<Record<string, unknown>>,
): string {
  return JSON.stringify({ notice: type, id, created_at: createdAt, ...parts });
}

type CapReached = Extract<ThresholdAlert, { type: 'key.cap_reached' }>;
/** What the body of a notice shows of a threshold alert. */
type ShownAlert =
  | Exclude<ThresholdAlert, CapReached>
  | (Omit<CapReached, 'apiKey' | 'leastMicros'> & { readonly apiKey: Pick<ApiKey, 'id' | 'name'> });
type Wallet = Pick<Account, 'availableMicros' | 'lowBalanceMicros'>;

/** The members of the body that a threshold alert adds. */
export function partsOf(account: Wallet, alert: ShownAlert): Readonly<Record<string, unknown>> {
  const wallet = walletView(account);
  switch (alert.type) {
    case 'wallet.low':
      return { account: wallet };
    case 'wallet.empty':
      return { account: { ...wallet, required: toUsd(alert.neededMicros) } };
    case 'key.cap_reached':
      return { account: wallet, key: capView(alert) };
    case 'webhook.failing':
      return { account: wallet, webhooks: { failed_attempts: alert.failures } };
    case 'budget.reached': {
      const { month, level, budgetMicros, spentMicros } = alert;
      const [limit, spent] = [toUsd(budgetMicros), toUsd(spentMicros)];
      const resetsAt = capRules.monthly.resetsAt(month);
      const budget = { month: shownPeriod(month), level, limit, spent, resets_at: resetsAt };
      return { account: wallet, budget };
    }
  }
}

/** The members of the body of a notice about an endpoint. */
export function endpointParts(
  account: Wallet,
  { id, url }: { readonly id: string; readonly url: string },
  failingSinceMillis: number,
): Readonly<Record<string, unknown>> {
  const endpoint = { id, url, failing_since: new Date(failingSinceMillis).toISOString() };
  return { account: walletView(account), endpoint };
}

/** The member `account` of the body of a notice. */
export function walletView({ availableMicros, lowBalanceMicros }: Wallet): Readonly<Record<string, unknown>> {
  return {
    available: toUsd(availableMicros),
    low_balance: lowBalanceMicros === undefined ? null : toUsd(lowBalanceMicros),
    currency: 'USD',
  };
}

interface CapView {
  readonly id: KeyId;
  readonly name: string;
  readonly cap: CapKind;
  readonly user?: string;
  readonly period: string;
  readonly level: CapLevel;
  readonly limit: number;
  readonly spent: number;
  readonly resets_at: string | null;
}

function capView(alert: Extract<ShownAlert, { type: 'key.cap_reached' }>): CapView {
  const { apiKey, user, cap, period, level, capMicros, spentMicros } = alert;
  return {
    id: apiKey.id,
    name: apiKey.name,
    cap,
    ...(user !== undefined && { user }),
    period: shownPeriod(period),
    level,
    limit: toUsd(capMicros),
    spent: toUsd(spentMicros),
    resets_at: capRules[cap].resetsAt(period),
  };
}

export function noticeIdsOf(
  { id, accountId, executions }: NoticeRecord,
  execution = executions,
): Readonly<Record<string, string>> {
  return { noticeId: id, accountId, executionId: executionName(id, execution) };
}

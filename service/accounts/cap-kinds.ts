/**
 * The caps of a key that can cause the notice key.cap_reached, one row each. A new kind of cap needs a row
 * here and a row of conditions in service/notices/notice-store.ts. The check after a creation, the refused
 * request, the mark and the body of the notice follow from these rows.
 */
import type { Micros } from '../values/money.ts';
import { dayOf, monthOf, nextDay, nextMonth } from '../values/time.ts';
import type { ApiKey, KeyCaps, ToldCap } from './account.ts';
import { oldestDayKept, spentIn, spentInAll, spentOn } from './caps.ts';

export type CapKind = 'daily' | 'monthly' | 'total' | 'user';

/** What a key has spent for one user of the client in a month, and the mark in this user's counter. */
export interface UserSpend {
  readonly user: string;
  readonly spentMicros: Micros;
  readonly told?: ToldCap;
}

export interface Spender {
  readonly apiKey: ApiKey;
  /** Absent: no user's cap is checked. */
  readonly user?: UserSpend;
}

interface ChargedPeriods {
  readonly chargedMonth: string;
  readonly chargedDay?: string;
  readonly countedForUser?: true;
}

export interface CapRule {
  /** `details.reason` of the 402 with which the cap refuses a request. */
  readonly reason: string;
  readonly capName: keyof KeyCaps;
  /** The period that a creation was charged to: "2026_11". Undefined: it was not counted for this cap. */
  readonly chargedPeriod: (creation: ChargedPeriods) => string | undefined;
  readonly periodAt: (millis: number) => string;
  readonly spentIn: (spender: Spender, period: string) => Micros | undefined;
  /** When the next period begins, RFC 3339. Null for a cap without periods. */
  readonly resetsAt: (period: string) => string | null;
}

const monthEnd = (month: string): string => nextMonth(Date.parse(shownPeriod(month)));
/** The period of a total cap never ends. */
const always = 'total';

export const capRules: Readonly<Record<CapKind, CapRule>> = {
  daily: {
    reason: 'daily_budget_exceeded',
    capName: 'dailyCapMicros',
    chargedPeriod: ({ chargedDay }) => chargedDay,
    periodAt: dayOf,
    spentIn: ({ apiKey }, day) => spentOn(apiKey, day),
    resetsAt: (day) => nextDay(Date.parse(shownPeriod(day))),
  },
  monthly: {
    reason: 'monthly_budget_exceeded',
    capName: 'monthlyCapMicros',
    chargedPeriod: ({ chargedMonth }) => chargedMonth,
    periodAt: monthOf,
    spentIn: ({ apiKey }, month) => spentIn(apiKey, month),
    resetsAt: monthEnd,
  },
  total: {
    reason: 'total_budget_exceeded',
    capName: 'totalCapMicros',
    chargedPeriod: () => always,
    periodAt: () => always,
    spentIn: ({ apiKey }) => spentInAll(apiKey),
    resetsAt: () => null,
  },
  user: {
    reason: 'user_budget_exceeded',
    capName: 'perUserMonthlyCapMicros',
    chargedPeriod: ({ countedForUser, chargedMonth }) => (countedForUser ? chargedMonth : undefined),
    periodAt: monthOf,
    spentIn: ({ user }) => user?.spentMicros,
    resetsAt: monthEnd,
  },
};

export const capKinds = Object.keys(capRules) as readonly CapKind[];

/** How clients read a period: "2026-11". */
export function shownPeriod(period: string): string {
  return period.replaceAll('_', '-');
}

/** The name of a cap's mark in the item of the key: its kind and its period. */
export function toldCapName(cap: CapKind, period: string): string {
  return `${cap}_${period}`;
}

/** The notices sent about the cap. The mark of a user's cap is in the counter of the user. */
export function toldOf({ apiKey, user }: Spender, cap: CapKind, period: string): ToldCap | undefined {
  return cap === 'user' ? user?.told : apiKey.told?.[toldCapName(cap, period)];
}

/** The names of daily marks older than the days of spend that are kept on this day. */
export function expiredMarks({ told = {} }: Pick<ApiKey, 'told'>, day: string): string[] {
  const oldest = toldCapName('daily', oldestDayKept(day));
  return Object.keys(told).filter((name) => name.startsWith(toldCapName('daily', '')) && name < oldest);
}

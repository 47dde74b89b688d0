/**
 * The caps of an API key: the most that it may spend on a UTC day, in a UTC month, and in all, and the most
 * that it may spend in a month for each user of the client.
 *
 * The key's own spend is kept by day and by month. The total is the sum of the months, so that it also counts
 * what earlier releases charged.
 */
import { asMicros, type Micros } from '../values/money.ts';
import { dayOf, monthOf, nextDay, nextMonth } from '../values/time.ts';
import type { ApiKey, KeyCaps } from './account.ts';

export const capNames = [
  'dailyCapMicros',
  'monthlyCapMicros',
  'totalCapMicros',
  'perUserMonthlyCapMicros',
] as const satisfies readonly (keyof KeyCaps)[];

export interface Budget {
  readonly period: 'daily' | 'monthly' | 'total' | 'user';
  readonly capMicros: Micros;
  readonly spentMicros: Micros;
  /** RFC 3339. When the spend begins at 0 again; null when it never does. */
  readonly resetsAt: string | null;
}

const dayMillis = 86_400_000;
/** A charge keeps the days of this many days before its own, and removes older ones from the key. */
const daysKept = 3;
/** The days to which a refund gives back: fewer than `daysKept`, because another clock may remove one. */
const daysGivenBack = 2;
/** How long a user's counter is kept after the end of its month. */
const counterKeptMillis = 92 * dayMillis;

export function spentIn({ spent }: Pick<ApiKey, 'spent'>, month: string): Micros {
  return spent[month] ?? asMicros(0);
}

/** What the key spent on a UTC day, "2026_11_21". */
export function spentOn({ spentByDay }: Pick<ApiKey, 'spentByDay'>, day: string): Micros {
  return spentByDay[day] ?? asMicros(0);
}

export function spentInAll({ spent }: Pick<ApiKey, 'spent'>): Micros {
  return asMicros(Object.values(spent).reduce((sum, month) => sum + month, 0));
}

/** The caps of a key with their spend, in the order of refusal. @param userSpent this month, for the user */
export function budgetsOf(apiKey: ApiKey, nowMillis: number, userSpent: Micros): Budget[] {
  const month = spentIn(apiKey, monthOf(nowMillis));
  const day = spentOn(apiKey, dayOf(nowMillis));
  const all: [Budget['period'], Micros | undefined, Micros, string | null][] = [
    ['daily', apiKey.dailyCapMicros, day, nextDay(nowMillis)],
    ['monthly', apiKey.monthlyCapMicros, month, nextMonth(nowMillis)],
    ['total', apiKey.totalCapMicros, spentInAll(apiKey), null],
    ['user', apiKey.perUserMonthlyCapMicros, userSpent, nextMonth(nowMillis)],
  ];
  return all.flatMap(([period, capMicros, spentMicros, resetsAt]) =>
    capMicros === undefined ? [] : [{ period, capMicros, spentMicros, resetsAt }],
  );
}

/** The first budget that does not cover the cost. Undefined when all of them do. */
export function exceededBudget(
  apiKey: ApiKey,
  cost: Micros,
  nowMillis: number,
  userSpent: Micros,
): Budget | undefined {
  return budgetsOf(apiKey, nowMillis, userSpent).find(
    ({ capMicros, spentMicros }) => spentMicros + cost > capMicros,
  );
}

export function allowsModel({ models }: Pick<ApiKey, 'models'>, model: string): boolean {
  return models === undefined || models.includes(model);
}

/** Whether the key has expired. It is refused from that moment on. */
export function isExpired({ expiresAt }: Pick<ApiKey, 'expiresAt'>, nowMillis: number): boolean {
  return expiresAt !== undefined && Date.parse(expiresAt) <= nowMillis;
}

/** The oldest day that a charge leaves on the key when it counts on this day. */
export function oldestDayKept(day: string): string {
  return dayOf(Date.parse(day.replaceAll('_', '-')) - daysKept * dayMillis);
}

/** Whether a refund gives back to this day. An older day limits no charge any more. */
export function isDayGivenBack(day: string, nowMillis: number): boolean {
  return day >= dayOf(nowMillis - daysGivenBack * dayMillis);
}

/** Unix milliseconds from which the counters of a month may be removed. */
export function counterExpiry(month: string): number {
  const first = Date.parse(`${month.replace('_', '-')}-01`);
  return Date.parse(nextMonth(first)) + counterKeptMillis;
}

/** Whether a refund gives back to the user's counter of this month: it still exists by every clock. */
export function isCounterGivenBack(month: string, nowMillis: number): boolean {
  return nowMillis < counterExpiry(month) - dayMillis;
}

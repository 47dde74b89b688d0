/**
 * The caps of a key that key.cap_reached watches, one row each. A new kind of cap is a new row: the look after
 * a creation, the refused request, the mark in the key's item and the body of the notice follow from it.
 */
import type { ApiKey } from './account.ts';
import { monthOf, nextMonth, type CreationRecord } from './creation.ts';
import { asMicros, type Micros } from './money.ts';

export interface WatchedCap {
  /** `details.reason` of the 402 with which the cap refuses a request. */
  readonly reason: string;
  readonly capOf: (key: ApiKey) => Micros | undefined;
  /** The attribute of the key's item that holds the cap. */
  readonly capAttribute: string;
  /** The period that a creation was charged to, as in the names of attributes: "2026_11". */
  readonly chargedPeriod: (creation: CreationRecord) => string;
  readonly periodAt: (millis: number) => string;
  /** The attribute of the key's item that holds what the period has spent. */
  readonly spentAttribute: (period: string) => string;
  readonly spentIn: (key: ApiKey, period: string) => Micros;
  /** How clients read the period: "2026-11". */
  readonly shownPeriod: (period: string) => string;
  /** When the next period begins, RFC 3339. Null for a cap that never begins anew. */
  readonly resetsAt: (period: string) => string | null;
}

export const watchedCaps = {
  monthly: {
    reason: 'monthly_budget_exceeded',
    capOf: (key) => key.monthlyCapMicros,
    capAttribute: 'monthlyCapMicros',
    chargedPeriod: (creation) => creation.chargedMonth,
    periodAt: monthOf,
    spentAttribute: (period) => `spent_${period}`,
    spentIn: (key, period) => key.spent[period] ?? asMicros(0),
    shownPeriod: (period) => period.replace('_', '-'),
    resetsAt: (period) => nextMonth(Date.parse(`${period.replace('_', '-')}-01T00:00:00.000Z`)),
  },
} as const satisfies Readonly<Record<string, WatchedCap>>;

export type CapKind = keyof typeof watchedCaps;

/** The kinds of caps, in the order of the table. */
export const capKinds = Object.keys(watchedCaps) as readonly CapKind[];

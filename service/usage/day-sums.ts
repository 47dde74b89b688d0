/**
 * Sums of one day of the ledger. They are made once, when the day is over, and never change. A refund that came
 * on a later day than its charge is held apart with the day of its charge. So a refund that is weeks late counts
 * on the right day, and no sum is opened again.
 */
import type { LedgerRow } from '../accounts/account.ts';
import { dayAfter } from '../values/time.ts';
import type { Days } from './booked-row.ts';
import type { UsageDimension } from './usage.ts';

/** A charge or a refund. Everything that an older row does not name was read from its creation. */
export interface UsedRow {
  readonly kind: 'charge' | 'refund';
  /** The UTC day on which the ledger has the row. */
  readonly day: string;
  /** The UTC day of the charge. */
  readonly chargedOn: string;
  readonly micros: number;
  readonly key: string | null;
  readonly model: string | null;
  readonly user: string | null;
}

/** A row that is no charge and no refund, as a statement shows it. Rows of the credit line move no money. */
export type Movement = Pick<LedgerRow, 'kind' | 'at' | 'amountMicros' | 'reference' | 'reason'>;

export interface MovedRow {
  readonly kind: 'moved';
  readonly day: string;
  readonly movement: Movement;
}

export interface UsageSum {
  readonly creations: number;
  readonly failed: number;
  readonly chargedMicros: number;
  readonly refundedMicros: number;
}

export type GroupSums = ReadonlyMap<string | null, UsageSum>;
export type LateRefund = Omit<UsedRow, 'kind' | 'day'>;

/** The sums of the rows of one day by each dimension, its refunds of charges of other days, and its other rows. */
export interface DaySums {
  readonly day: string;
  readonly groups: Readonly<Record<UsageDimension, GroupSums>>;
  readonly late: readonly LateRefund[];
  readonly moves: readonly Movement[];
}

export interface UsageDay {
  readonly day: string;
  readonly groups: GroupSums;
}

export const noUsage: UsageSum = { creations: 0, failed: 0, chargedMicros: 0, refundedMicros: 0 };

/** Rows of a day come late by the time of a request and by the clocks of functions. An hour is far more. */
const openForMillis = 3_600_000;

/** The last UTC day that is over, so that no row of it can come any more. */
export function lastDayOver(nowMillis: number): string {
  return new Date(nowMillis - openForMillis - 86_400_000).toISOString().slice(0, 10);
}

export function dayBefore(day: string): string {
  return new Date(Date.parse(day) - 86_400_000).toISOString().slice(0, 10);
}

export function eachDay({ from, to }: Days): string[] {
  const days: string[] = [];
  for (let day = from; day <= to; day = dayAfter(day)) days.push(day);
  return days;
}

function groupOf(by: UsageDimension, row: LateRefund): string | null {
  return by === 'day' ? row.chargedOn : row[by];
}

export function plus(one: UsageSum, other: UsageSum): UsageSum {
  return {
    creations: one.creations + other.creations,
    failed: one.failed + other.failed,
    chargedMicros: one.chargedMicros + other.chargedMicros,
    refundedMicros: one.refundedMicros + other.refundedMicros,
  };
}

export function addTo(groups: Map<string | null, UsageSum>, group: string | null, sum: UsageSum): void {
  groups.set(group, plus(groups.get(group) ?? noUsage, sum));
}

/** A creation fails exactly when its charge is given back, so each refund is one failure. */
function sumOf({ kind, micros }: Pick<UsedRow, 'kind' | 'micros'>): UsageSum {
  return kind === 'charge'
    ? { ...noUsage, creations: 1, chargedMicros: micros }
    : { ...noUsage, failed: 1, refundedMicros: micros };
}

export function sumDay(day: string, rows: Iterable<UsedRow | MovedRow>): DaySums {
  const groups = { day: new Map(), key: new Map(), model: new Map(), user: new Map() } as const;
  const dimensions = Object.entries(groups) as [UsageDimension, Map<string | null, UsageSum>][];
  const late: LateRefund[] = [];
  const moves: Movement[] = [];
  for (const row of rows) {
    if (row.kind === 'moved') {
      moves.push(row.movement);
      continue;
    }
    const { kind, day: _day, ...rest } = row;
    if (kind === 'refund' && row.chargedOn !== day) late.push(rest);
    else for (const [by, own] of dimensions) addTo(own, groupOf(by, row), sumOf(row));
  }
  return { day, groups, late, moves };
}

/** The days of a range, with refunds on the day of the charge. @param late refunds of other days */
export function attribute(
  range: Days,
  by: UsageDimension,
  groups: ReadonlyMap<string, GroupSums>,
  late: Iterable<LateRefund>,
): UsageDay[] {
  const days = new Map(eachDay(range).map((day) => [day, new Map(groups.get(day))]));
  for (const refund of late) {
    const own = days.get(refund.chargedOn);
    if (own) addTo(own, groupOf(by, refund), sumOf({ kind: 'refund', micros: refund.micros }));
  }
  return [...days].map(([day, own]) => ({ day, groups: own }));
}

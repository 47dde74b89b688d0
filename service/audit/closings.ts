/**
 * The closing balance of an account at the end of a month. A whole count has proven the sums of all rows up to this
 * month. Then the daily audit trusts these sums and reads only later rows, until the whole count of the next month
 * compares them with the ledger again.
 *
 * A row counts in the month of its charge. A refund of the next month belongs to its charge, so no account is closed
 * while a creation of the month is open.
 */
import { monthOf } from '../values/time.ts';
import { type AuditedRow, compare, type Finding } from './books.ts';

/** The sums of all rows that count in this month or earlier. */
export interface Closing {
  /** "2026_11", in UTC. */
  readonly month: string;
  readonly rows: number;
  readonly availableMicros: number;
  readonly creditLineMicros: number;
}

/** After the end of a month, no row of its charges comes so late, by any clock. */
const lateMillis = 86_400_000;

/** The month in which a row counts: of its charge, or of its own time. */
export function monthOfRow({ month, at }: Pick<AuditedRow, 'month' | 'at'>): string {
  return month ?? monthOf(Date.parse(at));
}

/** The last month that can be closed at this time. */
export function closableMonth(nowMillis: number): string {
  const late = new Date(nowMillis - lateMillis);
  return monthOf(Date.UTC(late.getUTCFullYear(), late.getUTCMonth()) - 1);
}

/** The first millisecond after a month. */
export function endOfMonth(month: string): number {
  const [year, number] = month.split('_').map(Number);
  return Date.UTC(year ?? NaN, number ?? NaN);
}

/** @param counted by a whole count of the ledger */
export function closingDifferences(counted: Closing, stored: Closing): Finding[] {
  const name = `closing balance of ${stored.month}`;
  return [
    ...compare(name, counted.availableMicros, stored.availableMicros),
    ...compare(`credit_line in the ${name}`, counted.creditLineMicros, stored.creditLineMicros),
    ...compare(`rows in the ${name}`, counted.rows, stored.rows),
  ];
}

/** Rows of the ledger with the creations that they name, and sums of them by group. */
import type { LedgerRow } from '../accounts/account.ts';
import type { CreationRecord } from '../creations/creation.ts';
import type { Cell } from '../values/csv.ts';

export type BookedCreation = Pick<CreationRecord, 'id' | 'status' | 'model' | 'attempts' | 'refundedMicros'>;

/** A row of the ledger, with its creation. A creation that has no record is absent. */
export interface BookedRow {
  readonly row: LedgerRow;
  readonly creation?: BookedCreation;
}

/** Days of UTC in the form "2026-11-21". The sums include both. */
export interface Days {
  readonly from: string;
  readonly to: string;
}

/** The UTC day of the charge, by which figures count the row. Older refunds count on their own day. */
export function dayOfRow({ at, chargedOn }: Pick<LedgerRow, 'at' | 'chargedOn'>): string {
  return chargedOn ?? at.slice(0, 10);
}

/** The refund to count with this row: from the creation, as the day of the charge may be final. */
export function refundedOf({ row, creation }: BookedRow): number {
  if (row.kind === 'charge') return creation?.refundedMicros ?? 0;
  return row.kind === 'refund' && !creation ? row.amountMicros : 0;
}

/** Whether the text is a UTC day from 1970 on. Not the last of 9999, after which none sorts. */
export function isDay(text: string): boolean {
  const millis = /^\d{4}-\d\d-\d\d$/.test(text) && text !== '9999-12-31' ? Date.parse(text) : NaN;
  // Some engines take 30 February for 2 March.
  return millis >= 0 && new Date(millis).toISOString().slice(0, 10) === text;
}

/** The sums of one group. The group null has the rows that name nothing, such as no user. */
export interface GroupOf<Sums> {
  readonly group: string | null;
  readonly sums: Sums;
}

export interface GroupedSums<Sums> {
  add(group: string | null, part: Sums): void;
  /** By the names of the groups. The group null is the last. */
  groups(): GroupOf<Sums>[];
  total(): Sums;
}

/** The memory that this takes grows with the number of groups, and not with the number of parts. */
export function groupSums<Sums extends Readonly<Record<keyof Sums, number>>>(zero: Sums): GroupedSums<Sums> {
  const names = Object.keys(zero) as (keyof Sums)[];
  const sums = new Map<string | null, Sums>();
  const plus = (one: Sums, other: Sums): Sums =>
    Object.fromEntries(names.map((name) => [name, one[name] + other[name]])) as unknown as Sums;
  return {
    add: (group, part) => void sums.set(group, plus(sums.get(group) ?? zero, part)),
    groups: () =>
      [...sums].map(([group, own]) => ({ group, sums: own })).sort((a, b) => byName(a.group, b.group)),
    total: () => [...sums.values()].reduce(plus, zero),
  };
}

function byName(one: string | null, other: string | null): number {
  if (one === other) return 0;
  if (one === null) return 1;
  if (other === null) return -1;
  return one < other ? -1 : 1;
}

export type Cells = Readonly<Record<string, Cell>>;

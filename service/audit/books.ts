/** The data that the audit reads of an account, and its result. */
import type { ApiKey, LedgerRow } from '../accounts/account.ts';
import type { CreationRecord } from '../creations/creation.ts';
import type { AccountId } from '../values/ids.ts';
import type { Micros } from '../values/money.ts';

export type AuditedCreation = Pick<
  CreationRecord,
  'id' | 'status' | 'costMicros' | 'refundedMicros' | 'dueAt' | 'createdAt'
>;

export type AuditedRow = Pick<
  LedgerRow,
  'kind' | 'amountMicros' | 'at' | 'creationId' | 'keyId' | 'month' | 'day' | 'countedForUser' | 'user'
>;

/** A row and its position in the ledger. Positions sort by time and are unique. */
export interface PlacedRow {
  readonly place: string;
  readonly row: AuditedRow;
}

/** The stored sums of an account, with which the audit compares the sums of the rows. */
export interface StoredSums {
  readonly availableMicros: Micros;
  readonly creditLineMicros: Micros;
  readonly inFlight: number;
  readonly keys: readonly Pick<ApiKey, 'id' | 'spent' | 'spentByDay'>[];
}

export interface Difference {
  readonly account: AccountId;
  /** "available", "in_flight", "spend of key … in 2026_11", "refunds of …", for example. */
  readonly what: string;
  /** By the ledger, or by counting. In micro-dollars where it is money. */
  readonly expected: number;
  /** As stored. */
  readonly found: number;
}

export type Finding = Omit<Difference, 'account'>;

/** Nothing when both are the same. */
export function compare(what: string, expected: number, found: number): Finding[] {
  return expected === found ? [] : [{ what, expected, found }];
}

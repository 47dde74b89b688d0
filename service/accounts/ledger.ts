/** The ledger: rows that are only added, one for every movement of an account's money. */
import type { CreationId, KeyId } from '../values/ids.ts';
import type { Micros } from '../values/money.ts';

export type LedgerKind = 'charge' | 'refund' | 'top_up' | 'adjustment' | 'credit_line';

export interface LedgerRow {
  readonly kind: LedgerKind;
  /** The change of what the account can spend. Negative for a charge. */
  readonly amountMicros: Micros;
  /** RFC 3339. */
  readonly at: string;
  readonly creationId?: CreationId;
  readonly keyId?: KeyId;
  /** Of a charge: X-Request-Id of the request. Absent in rows of older releases. */
  readonly requestId?: string;
  /** Of a charge or refund: the UTC month in which it counts as spend of the key. */
  readonly month?: string;
  /**
   * Of a charge: the UTC day in which it counts as spend of the key. Of a refund: the day to which it gave
   * back. Absent in rows of older releases, and in refunds of charges that are days old.
   */
  readonly day?: string;
  /** Of a charge or refund: whether it counts for `user`, too. */
  readonly countedForUser?: true;
  /** Of a charge or refund: whom the client renders for. Absent when the request named no user. */
  readonly user?: string;
  /** Of a charge or refund: the model of its creation. Absent in rows of older releases. */
  readonly model?: string;
  /**
   * Of a refund: the UTC day of its charge, "2026-11-21", on which usage counts it. Unlike `day`, no cap and no
   * counter of a key follows from it. Absent in rows of older releases.
   */
  readonly chargedOn?: string;
  /** Of a top-up or adjustment: the operator's text. */
  readonly reference?: string;
  readonly reason?: string;
}

/** What a key spent in a month for one user. */
export interface UserCounter {
  readonly keyId: KeyId;
  readonly month: string;
  readonly userHash: string;
  readonly spentMicros: Micros;
}

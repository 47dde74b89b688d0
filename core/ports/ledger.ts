/** The ledger of an account as people read it: the newest first with the balance, or a month at a time. */
import type { AccountId } from '../ids.ts';
import type { LedgerRow } from '../ledger.ts';
import type { Micros } from '../money.ts';

/** A row, with what the account could spend after it. */
export interface BalancedRow {
  readonly row: LedgerRow;
  readonly availableMicros: Micros;
}

/** Where the next page begins. It is a cursor of the API, so a release must understand those of the one before. */
export interface LedgerPlace {
  /** The sort key of the last row of the page before. */
  readonly after: string;
  /**
   * What the account could spend before that row. Absent while rows may still come in below it: then the
   * balance is counted anew.
   */
  readonly availableMicros?: Micros;
}

export interface LedgerPage {
  /** The newest first. */
  readonly rows: readonly BalancedRow[];
  /** Absent on the last page. */
  readonly next?: LedgerPlace;
}

/** A part of a month, the oldest first. */
export interface LedgerPart {
  readonly rows: readonly {
    readonly row: LedgerRow;
    /** Its sort key, after which a shorter part could end. */
    readonly key: string;
  }[];
  /** The sort key after which the next part begins. Absent after the last part. */
  readonly next?: string;
}

export interface LedgerReads {
  /** Throws Overloaded when rows are written faster than they can be read. */
  page(accountId: AccountId, limit: number, nowMillis: number, from?: LedgerPlace): Promise<LedgerPage>;
  /** @param month "2026-11", in UTC */
  part(accountId: AccountId, month: string, after?: string): Promise<LedgerPart>;
}

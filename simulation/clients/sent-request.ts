import type { Books } from '../watches/money-books.ts';
import type { Operation } from '../aws/deployed-service.ts';

/** The state of the books when a request was sent. */
export interface Before {
  readonly at: number;
  readonly ledger: ReturnType<Books['ledgerOf']>;
}

/** A request with its sender, and the answers that the sender may get. */
export interface Asked extends Before {
  readonly account: string;
  /** Whether the key may have been revoked, or the account suspended, before the answer. */
  readonly mayBeRefused: boolean;
  /**
   * Whether a command that revoked the key or suspended the account returned before the request, and still
   * holds.
   */
  readonly mustBeRefused: boolean;
  readonly operation: Operation;
}

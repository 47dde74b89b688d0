import type { Books } from '../watches/money-books.ts';
import type { Operation } from '../aws/deployed-service.ts';

/** How things stood as a request was sent. */
export interface Before {
  readonly at: number;
  readonly ledger: ReturnType<Books['ledgerOf']>;
}

/** Who asked, and what the asker may expect. */
export interface Asked extends Before {
  readonly account: string;
  /** Whether the key may have been revoked, or the account suspended, meanwhile. */
  readonly mayBeRefused: boolean;
  /** Whether a command that revoked the key or suspended the account had returned before, and still holds. */
  readonly mustBeRefused: boolean;
  readonly operation: Operation;
}

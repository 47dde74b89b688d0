/** Reads the books for the audit, and keeps the progress of a run. */
import type { AuditedCreation, PlacedRow, StoredSums, UserCounter } from '../audit/books.ts';
import type { AccountId, CreationId } from '../ids.ts';

/** An account, and its place in the list of all accounts. Places sort by age. */
export interface ListedAccount {
  readonly id: AccountId;
  readonly place: string;
}

/** Every read is consistent except the two lists. Throws Overloaded when the table stayed busy. */
export interface BooksReader {
  /** The accounts after a place, the oldest first, some hundred at once. */
  accounts(after?: string): AsyncIterable<readonly ListedAccount[]>;
  /** The rows of the ledger from this place on, the oldest first, some hundred at once. */
  ledger(account: AccountId, from?: string): AsyncIterable<readonly PlacedRow[]>;
  /** The creations after this one in the account's list, the oldest first, some hundred at once. */
  listed(account: AccountId, after?: CreationId): AsyncIterable<readonly CreationId[]>;
  /** The records of these creations, in any order. */
  creations(ids: readonly CreationId[]): Promise<readonly AuditedCreation[]>;
  /** The stored sums. They are read one after the other. Undefined: there is no such account. */
  sums(account: AccountId): Promise<StoredSums | undefined>;
  /** The counters of the users of keys that have a cap for each user. */
  userCounters(account: AccountId): Promise<readonly UserCounter[]>;
  /** The stored number of open creations. */
  inFlight(account: AccountId): Promise<number>;
  /** The first place of rows of this time (Unix milliseconds). */
  placeOf(millis: number): string;
}

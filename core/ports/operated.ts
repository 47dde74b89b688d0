/** What the operator's pages read over all accounts. */
import type { Account } from '../account.ts';
import type { BookedRow, Days } from '../booked-row.ts';
import type { CreationRecord } from '../creation.ts';
import type { AccountId, CreationId, NoticeId } from '../ids.ts';

export interface AccountPage {
  readonly accounts: readonly Account[];
  /** Behind which account the next page begins. Absent on the last page. */
  readonly after?: string;
}

/** Every function throws Overloaded when the table stayed busy. */
export interface OperatedReads {
  /** The oldest first. @param after of the page before */
  accounts(limit: number, after?: string): Promise<AccountPage>;
  /** These accounts, without those that do not exist. */
  accountsOf(ids: readonly AccountId[]): Promise<readonly Account[]>;
  /** The creations and the notices whose webhook waits, those that wait longest first, at most so many. */
  waitingWebhooks(most: number): Promise<readonly (CreationId | NoticeId)[]>;
  /** The newest creations of all these accounts together, the newest first. */
  newestCreations(accounts: readonly AccountId[], most: number): Promise<readonly CreationRecord[]>;
  /** The charges and refunds of an account, some hundred at once. */
  bookedRows(account: AccountId, days: Days): AsyncIterable<readonly BookedRow[]>;
}

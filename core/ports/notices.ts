/** Notices: the checks of an account, the transaction that stores a notice, and the unsent notices. */
import type { Account, ApiKey } from '../account.ts';
import type { AccountId, KeyId, NoticeId } from '../ids.ts';
import type { Crossing, NoticeRecord } from '../notice.ts';
import type { LookedUser } from '../watched-caps.ts';
import type { StartOutcome } from './executions.ts';

/** Every function throws Overloaded when the table stayed busy. */
export interface NoticeMarks {
  /**
   * The account, the key and what the key has spent for a user in a month, as they are stored now, by one
   * consistent read.
   */
  look(
    account: AccountId,
    key?: KeyId,
    counter?: { readonly user: string; readonly month: string },
  ): Promise<{ readonly account: Account; readonly apiKey?: ApiKey; readonly user?: LookedUser } | undefined>;
  /**
   * Stores the notice and marks the crossing as sent, by one transaction. False when the amount is no longer
   * beyond its threshold, or the notice was already sent.
   */
  tell(crossing: Crossing, notice: NoticeRecord): Promise<boolean>;
  /** Takes the mark of a crossing back, if the amount is still on the good side. */
  takeBack(account: Account, mark: 'toldLow' | 'toldEmpty'): Promise<void>;
}

/** Every function throws Overloaded when the table stayed busy. */
export interface NoticeStore extends NoticeMarks {
  read(id: NoticeId): Promise<NoticeRecord | undefined>;
  /** The notices of these ids, without those that do not exist. */
  readAll(ids: readonly NoticeId[]): Promise<readonly NoticeRecord[]>;
}

/** The executions that send notices. */
export interface NoticeExecutions {
  /** Starts the nth execution of a notice. A repeated start is the same start. */
  start(id: NoticeId, number: number): Promise<StartOutcome>;
}

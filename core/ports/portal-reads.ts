/** Small reads of the portal's pages. */
import type { AccountId, NoticeId } from '../ids.ts';
import type { ApiKey } from '../account.ts';

export interface PortalReads {
  /** All keys of the account, also that of the playground, the oldest first. */
  keys(account: AccountId): Promise<readonly ApiKey[]>;
  /** The names of accounts. */
  accountNames(ids: readonly AccountId[]): Promise<ReadonlyMap<AccountId, string>>;
  service(): Promise<{ readonly openCreations: number; readonly enabledProviders: readonly string[] }>;
  /** Unix milliseconds of the last test delivery. */
  lastTestAt(account: AccountId): Promise<number | undefined>;
  /** The body of a notice. Undefined: the notice is gone. */
  noticeBody(account: AccountId, id: NoticeId): Promise<string | undefined>;
}

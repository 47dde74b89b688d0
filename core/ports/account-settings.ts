/** What clients change of their account by themselves. */
import type { Account, SealedSecret } from '../account.ts';
import type { AccountId } from '../ids.ts';
import type { NoticeSettings } from '../notice-settings.ts';

/** Every function throws Overloaded when the table stayed busy. A retry recognizes its own lost write. */
export interface AccountSettings {
  read(id: AccountId): Promise<Account | undefined>;
  /** Stores a new list of secrets. False when the current secret is no longer the given one. */
  replaceSecrets(
    id: AccountId,
    current: SealedSecret | undefined,
    next: readonly SealedSecret[],
  ): Promise<boolean>;
  /** Changes both alerts. False when another call changed one of them since the account was read. */
  changeAlerts(read: Account, next: Required<NoticeSettings>): Promise<boolean>;
}

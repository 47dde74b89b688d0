/** The API keys of accounts, as people manage them. */
import type { ApiKey } from '../account.ts';
import type { KeyEdit } from '../api-keys.ts';
import type { AccountId, KeyId } from '../ids.ts';

/** Every function throws Overloaded when the table stayed busy. A retry recognizes its own lost write. */
export interface KeyStore {
  read(account: AccountId, id: KeyId): Promise<ApiKey | undefined>;
  /** Stores a new key, unless the account has as many as it may have. */
  create(key: ApiKey): Promise<'created' | 'id_taken' | 'too_many'>;
  /** False when there is no such key. A second revocation keeps the time of the first one. */
  revoke(account: AccountId, id: KeyId, at: string): Promise<boolean>;
  /**
   * Changes a key, if name, limits and revocation are still those of the key as it was read. False when somebody
   * changed them meanwhile.
   */
  change(read: ApiKey, edit: KeyEdit): Promise<boolean>;
  /**
   * Stores the key that replaces another, and the new end of the other, by one transaction. "changed": somebody changed
   * the other key meanwhile. Throws OutcomeUnknown when it is unknown whether it was written.
   */
  roll(read: ApiKey, next: ApiKey, oldEndsAt: string): Promise<'rolled' | 'changed' | 'too_many'>;
}

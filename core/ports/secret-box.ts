/** Where webhook secrets are kept. */
import type { AccountId } from '../ids.ts';

/** Encrypts webhook secrets; a text sealed for one account opens for no other. */
export interface SecretBox {
  seal(accountId: AccountId, plain: string): Promise<string>;
  open(accountId: AccountId, sealed: string): Promise<string>;
}

/** Where webhook secrets are kept. */
import type { AccountId } from '../ids.ts';

/** Encrypts webhook secrets; a text sealed for one account opens for no other. */
export interface SecretBox {
  seal(accountId: AccountId, plain: string): Promise<string>;
  /** Throws SecretLost when nobody can open the text any more. Any other error may pass. */
  open(accountId: AccountId, sealed: string): Promise<string>;
}

/** The key that sealed a text is gone for good, or the text is damaged or belongs to another account. */
export class SecretLost extends Error {
  override readonly name = 'SecretLost';
}

/** The encryption of webhook secrets. */
import type { AccountId } from '../ids.ts';

/** Encrypts webhook secrets. A text that was sealed for one account does not open for another. */
export interface SecretBox {
  seal(accountId: AccountId, plain: string): Promise<string>;
  /** Throws SecretLost when nobody can open the text any more. Any other error may pass. */
  open(accountId: AccountId, sealed: string): Promise<string>;
}

/** The key that sealed a text is lost for ever, or the text is damaged or belongs to another account. */
export class SecretLost extends Error {
  override readonly name = 'SecretLost';
}

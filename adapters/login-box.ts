/** The state of a sign-in, encrypted for its cookie with a key that nothing else uses. */
import type { AccountId } from '../core/ids.ts';
import type { LoginBox } from '../core/ports/login-box.ts';
import { SecretLost } from '../core/ports/secret-box.ts';
import { createSecretBox, type SecretBoxOptions } from './secret-box.ts';

/** Used instead of the id of an account, whose form is different. */
const bound = 'sign-in' as AccountId;

export function createLoginBox(options: SecretBoxOptions): LoginBox {
  const box = createSecretBox({ ...options, purpose: 'portal sign-in', isOpenToStrangers: true });
  return {
    seal: (text) => box.seal(bound, text),
    open: async (sealed) => {
      try {
        return await box.open(bound, sealed);
      } catch (error) {
        if (error instanceof SecretLost) return undefined;
        throw error;
      }
    },
  };
}

/** The state of a sign-in, encrypted for its cookie with a key that nothing else uses. */
import type { AccountId } from '../../values/ids.ts';
import { createSecretBox, type SecretBoxOptions, SecretLost } from '../../webhooks/secret-box.ts';

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

/** Seals what the browser keeps while a person signs in. */
export interface LoginBox {
  seal(text: string): Promise<string>;
  /** Undefined when the text was not sealed here, was altered, or its key is gone. */
  open(sealed: string): Promise<string | undefined>;
}

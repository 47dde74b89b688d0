import { createPlainSecret } from '../../aws/secrets.ts';
import { createMailStore } from '../../notices/mail-store.ts';
import type { ServicesOf } from '../../platform/common.ts';
import type { On } from '../../platform/platform.ts';
import type { AccountId } from '../../values/ids.ts';
import { createSecretBox, type SecretBoxOptions, SecretLost } from '../../webhooks/secret-box.ts';
import { openPortalWith, type PortalPlatform } from '../open.ts';
import { createPeopleStore } from '../people-store.ts';
import { createOpenid } from './openid.ts';

// The state of a sign-in, encrypted for its cookie with a key that nothing else uses.

/** Used instead of the id of an account, whose form is different. */
const bound = 'sign-in' as AccountId;

export function createLoginBox(options: SecretBoxOptions) {
  const box = createSecretBox({ ...options, purpose: 'portal sign-in', isOpenToStrangers: true });
  return {
    seal: (text: string): Promise<string> => box.seal(bound, text),
    /** Undefined when the text was not sealed here, was altered, or its key is gone. */
    open: async (sealed: string): Promise<string | undefined> => {
      try {
        return await box.open(bound, sealed);
      } catch (error) {
        if (error instanceof SecretLost) return undefined;
        throw error;
      }
    },
  };
}

export type LoginBox = ReturnType<typeof createLoginBox>;

export type SignInServices = ServicesOf<typeof openSignIn>;

export function openSignIn(on: PortalPlatform & On<'secrets' | 'topics'>) {
  const { secrets: client, clock, randomBytes, environment } = on;
  const identity = createOpenid({
    issuer: environment('PORTAL_ISSUER'),
    clientId: environment('PORTAL_CLIENT_ID'),
    clientSecret: createPlainSecret({ client, secretArn: environment('SIGN_IN_SECRET_ARN'), clock }),
    clock,
  });
  const secretArn = environment('ENCRYPTION_SECRET_ARN');
  const loginBox = createLoginBox({ client, secretArn, clock, randomBytes });
  return openPortalWith(on, (store) => ({
    loginBox,
    identity: identity(store.signal),
    people: createPeopleStore(store),
    mailStore: createMailStore(store),
    topics: on.topics,
  }));
}

import { createPlainSecret } from '../../aws/secrets.ts';
import type { ServicesOf } from '../../platform/opener.ts';
import type { On } from '../../platform/platform.ts';
import { openPortalWith, type PortalPlatform } from '../open.ts';
import { createPeopleStore } from '../people-store.ts';
import { createLoginBox } from './login-box.ts';
import { createOpenid } from './openid.ts';

/** For the function that signs people in. */
export type SignInServices = ServicesOf<typeof openSignIn>;

export function openSignIn(on: PortalPlatform & On<'secrets'>) {
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
  }));
}

import { createPeopleStore } from '../../adapters/dynamodb/portal/people-store.ts';
import { createLoginBox } from '../../adapters/login-box.ts';
import { createOpenid } from '../../adapters/openid.ts';
import { createPlainSecret } from '../../adapters/plain-secret.ts';
import type { ServicesOf } from './open.ts';
import type { On } from './platform.ts';
import { openPortalWith, type PortalPlatform } from './portal.ts';

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

import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { callLimits } from '../../adapters/call-limits.ts';
import { createPeopleStore } from '../../adapters/dynamodb/portal/people-store.ts';
import { createLoginBox } from '../../adapters/login-box.ts';
import { createOpenid } from '../../adapters/openid.ts';
import { createPlainSecret } from '../../adapters/plain-secret.ts';
import { systemClock } from '../../adapters/system-clock.ts';
import type { IdentityProvider } from '../../core/ports/identity-provider.ts';
import type { LoginBox } from '../../core/ports/login-box.ts';
import type { PeopleStore } from '../../core/ports/people.ts';
import { randomness, table } from './clients.ts';
import { environment } from './environment.ts';
import type { OpenServices } from './open.ts';
import { openPortal, type PortalServices } from './portal.ts';

/** For the function that signs people in. */
export interface SignInServices extends PortalServices {
  readonly people: PeopleStore;
  readonly identity: IdentityProvider;
  readonly loginBox: LoginBox;
}

export function signInServices(): OpenServices<SignInServices> {
  const shared = table();
  const open = openPortal(shared);
  const client = new SecretsManagerClient(callLimits());
  const clock = systemClock;
  const identity = createOpenid({
    issuer: environment('PORTAL_ISSUER'),
    clientId: environment('PORTAL_CLIENT_ID'),
    clientSecret: createPlainSecret({ client, secretArn: environment('SIGN_IN_SECRET_ARN'), clock }),
    clock,
  });
  const secretArn = environment('ENCRYPTION_SECRET_ARN');
  const loginBox = createLoginBox({ client, secretArn, clock, randomBytes: randomness });
  return () => {
    const portal = open();
    const { signal } = portal.budget;
    return {
      ...portal,
      loginBox,
      identity: identity(signal),
      people: createPeopleStore({ ...shared, signal }),
    };
  };
}

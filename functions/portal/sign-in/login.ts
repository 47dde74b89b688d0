import { signInParameters } from '../../../core/contract.ts';
import { sessionMillis } from '../../../core/portal/people.ts';
import { IssuerUnavailable } from '../../../core/ports/identity-provider.ts';
import type { SignInServices } from '../../services/portal-sign-in.ts';
import { isBlocked } from '../http/authenticate-person.ts';
import type { PortalAnswer } from '../http/caller.ts';
import type { PortalRequest } from '../http/portal-request.ts';
import { keepSignIn, redirectUriOf, returnPath } from './begun.ts';
import { logUnavailable } from './log-unavailable.ts';
import { backWith, redirect } from './redirect.ts';

/** GET /auth/login?return=/keys&fresh=1: sends the browser to the issuer. `fresh` asks for a new proof. */
export async function login(request: PortalRequest, services: SignInServices): Promise<PortalAnswer> {
  const { access, clock, identity, loginBox, settings } = services;
  const { portalUrl } = settings;
  const nowMillis = clock.now();
  try {
    const { block } = await access.read({ clientAddress: request.clientAddress, nowMillis });
    if (block && isBlocked(block, true)) return backWith('blocked', portalUrl);
    const isFresh = request.query[signInParameters.isFresh] === '1';
    const secrets = identity.newSecrets();
    const url = await identity.authorizationUrl({
      ...secrets,
      isFresh,
      maxAgeSeconds: sessionMillis / 1000,
      redirectUri: redirectUriOf(portalUrl),
    });
    const returnTo = returnPath(request.query[signInParameters.returnTo], portalUrl);
    const begun = { ...secrets, isFresh, returnTo, at: nowMillis };
    return redirect(url, [await keepSignIn(begun, portalUrl, loginBox)]);
  } catch (error) {
    if (error instanceof IssuerUnavailable) {
      logUnavailable(error, services);
      return backWith('unavailable', portalUrl);
    }
    throw error;
  }
}

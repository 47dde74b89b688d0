import type { PortalAnswer } from '../http/caller.ts';
import { foreignOrigin } from '../http/portal-problems.ts';
import { isFromOwnPages, type PortalRequest } from '../http/portal-request.ts';
import { cookieIn, cookieNames, parseSession, setCookie } from '../session.ts';
import { logUnavailable, redirect } from './login.ts';
import type { SignInServices } from './open.ts';
import { IssuerUnavailable } from './openid.ts';

/** POST /auth/logout: ends the session, and sends the browser to the issuer's own sign-out, if it has one. */
export async function logout(request: PortalRequest, services: SignInServices): Promise<PortalAnswer> {
  const { portalUrl } = services.settings;
  if (!isFromOwnPages(request, portalUrl)) throw foreignOrigin();
  const { session } = cookieNames(portalUrl);
  const cookie = cookieIn(request.cookies, session);
  const presented = cookie === undefined ? undefined : parseSession(cookie);
  if (presented) await services.access.end(presented.hash, services.clock.now());
  const next = await afterwards(services);
  return redirect(next ?? portalUrl.href, [setCookie(portalUrl, session, '', 0)]);
}

async function afterwards(services: SignInServices): Promise<string | undefined> {
  try {
    return await services.identity.endSessionUrl(services.settings.portalUrl.href);
  } catch (error) {
    if (!(error instanceof IssuerUnavailable)) throw error;
    // The session here has ended all the same.
    logUnavailable(error, services);
    return undefined;
  }
}

import type { SignInError } from '../../contract/operations.ts';
import { isBlocked, type PortalAnswer } from '../http/caller.ts';
import type { PortalRequest } from '../http/portal-request.ts';
import { cookieIn, cookieNames, parseSession } from '../session.ts';
import { enter, openSession } from './enter.ts';
import {
  backWith,
  begunSignIn,
  type BegunSignIn,
  forgetSignIn,
  logUnavailable,
  redirect,
  redirectUriOf,
} from './login.ts';
import type { SignInServices } from './open.ts';
import { type Claims, IssuerUnavailable, SignInCancelled, SignInRefused } from './openid.ts';

/** A person may take this long for the issuer's own clock to differ from ours. */
const skewMillis = 60_000;

/** GET /auth/callback: the issuer sent the browser back. Redeems the code, and opens a session. */
export async function callback(request: PortalRequest, services: SignInServices): Promise<PortalAnswer> {
  const { clock, loginBox, settings } = services;
  const { portalUrl } = settings;
  const nowMillis = clock.now();
  const forgotten = forgetSignIn(portalUrl);
  const back = (error: SignInError): PortalAnswer => backWith(error, portalUrl, [forgotten]);
  const { clientAddress, cookies } = request;
  const { block } = await services.access.read({ clientAddress, nowMillis });
  if (block && isBlocked(block, true)) return back('blocked');
  const begun = await begunSignIn(cookies, portalUrl, nowMillis, loginBox);
  // The same answer as without a cookie. A cookie that this service did not seal is a guess.
  if (begun === 'forged') await services.access.countRejection(clientAddress, nowMillis);
  if (begun === 'forged' || begun === 'none') return back('expired');
  try {
    const claims = await redeemed(request, begun, services);
    const authenticatedAt = provedAt(claims, nowMillis, services);
    // An issuer that ignores prompt=login would turn an old sign-in into a fresh one.
    if (begun.isFresh && authenticatedAt < begun.at - skewMillis) return back('stale');
    const cookie = cookieIn(request.cookies, cookieNames(portalUrl).session);
    const before = cookie === undefined ? undefined : parseSession(cookie);
    const entered = await enter(claims, before, nowMillis, services);
    if (typeof entered === 'string') return back(entered);
    const kept = await openSession(entered, { nowMillis, authenticatedAt }, services, portalUrl);
    // A cookie from before the sign-in never becomes a signed-in session.
    if (before) await services.access.end(before.hash, nowMillis);
    return redirect(new URL(begun.returnTo, portalUrl).href, [forgotten, kept]);
  } catch (error) {
    if (error instanceof SignInCancelled) return back('cancelled');
    if (error instanceof SignInRefused) {
      services.log.info('sign_in_refused', { why: error.message });
      // The issuer was asked, and all accounts share its quota. A foreign page cannot know the state.
      if (request.query['state'] === begun.state)
        await services.access.countRejection(clientAddress, nowMillis);
      return back('refused');
    }
    if (error instanceof IssuerUnavailable) {
      logUnavailable(error, services);
      return back('unavailable');
    }
    throw error;
  }
}

async function redeemed(
  { rawQuery }: PortalRequest,
  begun: BegunSignIn,
  { identity, settings }: SignInServices,
): Promise<Claims> {
  const redirectUri = redirectUriOf(settings.portalUrl);
  const address = new URL(redirectUri);
  address.search = rawQuery;
  return identity.redeem(address, { ...begun, redirectUri });
}

/** When the person proved who they are, as far as the issuer says. Never in the future. */
function provedAt({ authTime }: Claims, nowMillis: number, { settings }: SignInServices): number {
  if (!settings.hasAuthTime) return nowMillis;
  return Math.min(nowMillis, (authTime ?? 0) * 1000);
}

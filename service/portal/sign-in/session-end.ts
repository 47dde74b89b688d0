import * as z from 'zod/mini';
import type { SwitchedView } from '../../contract/portal-views.ts';
import { parseAccountId } from '../../values/ids.ts';
import { parseBody } from '../../operated/body.ts';
import type { PortalAnswer, PortalHandle } from '../http/caller.ts';
import {
  foreignOrigin,
  isFromOwnPages,
  noSuchAccount,
  type PortalRequest,
  sessionRequired,
} from '../http/portal-request.ts';
import { sessionMillis } from '../people.ts';
import {
  cookieIn,
  cookieNames,
  hashToken,
  parseSession,
  sessionValue,
  setCookie,
  tokenBytes,
  wasEndedHere,
} from '../session.ts';
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

const bodySchema = z.strictObject({ account: z.string() });

/** POST /account: a new session of the same sign-in, in another account of the person. */
export const switchAccount: PortalHandle<'switchAccount', SignInServices> = async (
  request,
  { person, session, nowMillis },
  { access, randomBytes, settings },
) => {
  const { account } = parseBody(request, bodySchema);
  const accountId = parseAccountId(account);
  if (!accountId) throw noSuchAccount();
  const { members } = await access.membersOf(person.id, [accountId]);
  const [member] = members;
  if (!member) throw noSuchAccount();
  if (wasEndedHere(session, member)) throw sessionRequired('session_ended');
  const token = Buffer.from(randomBytes(tokenBytes)).toString('base64url');
  await access.open({ ...session, accountId, hash: hashToken(token), lastSeenAt: nowMillis });
  await access.end(session.hash, nowMillis);
  const { portalUrl } = settings;
  const secondsLeft = Math.ceil((session.createdAt + sessionMillis - nowMillis) / 1000);
  const value = sessionValue(token, { personId: person.id, accountId });
  const view: SwitchedView = { account: accountId };
  return {
    status: 200,
    body: view,
    cookies: [setCookie(portalUrl, cookieNames(portalUrl).session, value, secondsLeft)],
  };
};

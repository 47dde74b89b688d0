import * as z from 'zod/mini';
import type { SwitchedView } from '../../contract/portal-views.ts';
import { parseAccountId } from '../../values/ids.ts';
import { parseBody } from '../http/body.ts';
import type { PortalHandle } from '../http/caller.ts';
import { noSuchAccount, sessionRequired } from '../http/portal-problems.ts';
import { sessionMillis } from '../people.ts';
import { cookieNames, hashToken, sessionValue, setCookie, tokenBytes, wasEndedHere } from '../session.ts';
import type { SignInServices } from './open.ts';

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
  const { members } = await access.placesOf(person.id, [accountId]);
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

/**
 * The caller. One consistent read holds everything that decides, and nothing is cached: a session that was
 * ended, or a person who was removed, is dead at the next request.
 */
import { addressBlocked } from '../../api/problems.ts';
import type { Block } from '../../api/request-store.ts';
import type { Clock } from '../../values/runtime.ts';
import type { PortalAccess } from '../session-store.ts';
import { cookieIn, cookieNames, isAlive, isSameSession, parseSession, wasEndedHere } from '../session.ts';
import type { PortalSettings } from '../settings.ts';
import type { PersonCaller } from './caller.ts';
import { sessionRequired } from './portal-problems.ts';
import type { PortalRequest } from './portal-request.ts';

interface AccessServices {
  readonly access: PortalAccess;
  readonly settings: PortalSettings;
  readonly clock: Pick<Clock, 'now'>;
}

/** Throws 429 for a blocked address, and 401 without a session that lives. */
export async function authenticatePerson(
  request: PortalRequest,
  { access, settings, clock }: AccessServices,
): Promise<PersonCaller> {
  const cookie = cookieIn(request.cookies, cookieNames(settings.portalUrl).session);
  const presented = cookie === undefined ? undefined : parseSession(cookie);
  const nowMillis = clock.now();
  const { clientAddress } = request;
  const state = await access.read({ clientAddress, nowMillis, ...(presented && { session: presented }) });
  const { block, session, person } = state;
  const isSignedIn = presented && session && isSameSession(session, presented) && isAlive(session, nowMillis);
  if (block && isBlocked(block, isSignedIn === true)) throw addressBlocked(block.untilMillis - nowMillis);
  if (cookie === undefined) throw sessionRequired('no_session');
  if (!presented || !session || !isSameSession(session, presented)) {
    // A cookie of ours says what is stored. Every other one is a guess.
    await access.countRejection(clientAddress, nowMillis);
    throw sessionRequired('unknown_session');
  }
  const { member, account, operator } = state;
  if (!person || !isAlive(session, nowMillis)) throw sessionRequired('session_ended');
  if (member && wasEndedHere(session, member)) throw sessionRequired('session_ended');
  return {
    person,
    session,
    isOperator: operator !== undefined && !wasEndedHere(session, operator),
    ...(member && account && { member, account }),
    clientAddress,
    nowMillis,
  };
}

/**
 * A block of the public API alone leaves the portal open. A block because of requests without a key guards nothing of
 * the portal: it spares everybody who is signed in, and the sign-in.
 */
export function isBlocked({ scope, isKeyless }: Block, isSpared: boolean): boolean {
  return scope === 'all' && !(isKeyless === true && isSpared);
}

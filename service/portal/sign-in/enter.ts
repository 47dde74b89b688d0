/** Who comes in, and where. */
import type { SignInError } from '../../contract/operations.ts';
import type { AccountId, PersonId } from '../../values/ids.ts';
import type { Identity, VerifiedIdentity } from '../people-store.ts';
import { invitationIdOf, isAddress, normalEmail, personIdOf, sessionMillis } from '../people.ts';
import {
  cookieNames,
  hashToken,
  type PresentedSession,
  sessionValue,
  setCookie,
  tokenBytes,
} from '../session.ts';
import type { PortalSettings } from '../settings.ts';
import type { SignInServices } from './open.ts';
import type { Claims } from './openid.ts';

interface EnterServices extends Pick<SignInServices, 'people' | 'access' | 'log'> {
  readonly settings: Pick<PortalSettings, 'emailsAreVerified'>;
}

/** The person, and the account in which the session begins. Absent: only the operator's pages are open. */
export interface Entered {
  readonly personId: PersonId;
  readonly accountId?: AccountId;
}

/** Takes up invitations and finds the account of the session. @param before the earlier session */
export async function enter(
  claims: Claims,
  before: PresentedSession | undefined,
  nowMillis: number,
  services: EnterServices,
): Promise<Entered | SignInError> {
  const { people, access, log } = services;
  const identity = identityOf(claims, services);
  const at = new Date(nowMillis).toISOString();
  const joined = isVerified(identity) ? await takeUpInvitations(identity, at, services) : [];
  const person = await people.findPerson(identity.id);
  if (!person) return identity.email === undefined ? 'unverified' : 'not_invited';
  const { members, operator } = await access.membersOf(person.id, person.accounts);
  if (members.length === 0 && !operator) return 'not_invited';
  await people.noteSignIn(person, identity, at);
  const mine = members.map(({ accountId }) => accountId).sort();
  const wanted = [joined.at(-1), before?.personId === person.id ? before.accountId : undefined];
  const accountId = wanted.find((id) => id !== undefined && mine.includes(id)) ?? mine[0];
  log.info('signed_in', { personId: person.id, accountId });
  return { personId: person.id, ...(accountId !== undefined && { accountId }) };
}

/** Opens a session, and returns its cookie. @param authenticatedAt when the person proved who they are */
export async function openSession(
  entered: Entered,
  { nowMillis, authenticatedAt }: { readonly nowMillis: number; readonly authenticatedAt: number },
  { access, randomBytes }: Pick<SignInServices, 'access' | 'randomBytes'>,
  portalUrl: URL,
): Promise<string> {
  const token = Buffer.from(randomBytes(tokenBytes)).toString('base64url');
  await access.open({
    ...entered,
    hash: hashToken(token),
    authenticatedAt,
    createdAt: nowMillis,
    lastSeenAt: nowMillis,
  });
  const value = sessionValue(token, entered);
  return setCookie(portalUrl, cookieNames(portalUrl).session, value, sessionMillis / 1000);
}

/** Without the address, when the issuer does not say that it belongs to the person. */
function identityOf(
  { issuer, subject, email, emailVerified }: Claims,
  { settings }: EnterServices,
): Identity {
  const isTrusted = emailVerified || settings.emailsAreVerified;
  return {
    id: personIdOf(issuer, subject),
    issuer,
    subject,
    ...(isTrusted && email !== undefined && isAddress(email) && { email: normalEmail(email) }),
  };
}

function isVerified(identity: Identity): identity is VerifiedIdentity {
  return identity.email !== undefined;
}

async function takeUpInvitations(
  identity: VerifiedIdentity,
  at: string,
  { people, log }: EnterServices,
): Promise<AccountId[]> {
  const joined: AccountId[] = [];
  for (const invitation of await people.invitationsTo(invitationIdOf(identity.email))) {
    if (invitation.expiresAt <= Date.parse(at)) continue;
    if (!(await people.accept(invitation, identity, at))) continue;
    log.info('invitation_taken_up', { personId: identity.id, accountId: invitation.accountId });
    if (invitation.accountId !== 'SERVICE') joined.push(invitation.accountId);
  }
  return joined;
}

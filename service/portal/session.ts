/** The cookie of a session, and how long a session lives. */
import { createHash } from 'node:crypto';
import { type AccountId, parseAccountId, parsePersonId, type PersonId } from '../values/ids.ts';
import { idleMillis, type Operator, type Session, sessionMillis } from './people.ts';

/** The random part of a cookie has this many bytes. */
export const tokenBytes = 32;
/** A session is stored for this long after its end, so that an old cookie is not taken for a guess. */
export const rememberedMillis = 24 * 3_600_000;

/** What a well-formed cookie says. The ids let a single read get everything that decides. */
export interface PresentedSession {
  readonly hash: string;
  readonly personId: PersonId;
  readonly accountId?: AccountId;
}

/** The value of the cookie. @param token the base64url of 32 random bytes, which only the browser keeps */
export function sessionValue(
  token: string,
  { personId, accountId }: Pick<Session, 'personId' | 'accountId'>,
): string {
  return `${token}.${personId}.${accountId ?? '-'}`;
}

/** Undefined when the value has not the form of a cookie of ours. */
export function parseSession(value: string): PresentedSession | undefined {
  const [token = '', person = '', account = '', ...more] = value.split('.');
  const personId = parsePersonId(person);
  const accountId = account === '-' ? undefined : parseAccountId(account);
  const isWhole = /^[\w-]{43}$/.test(token) && personId && (account === '-' || accountId);
  if (!isWhole || more.length > 0) return undefined;
  return { hash: hashToken(token), personId, ...(accountId && { accountId }) };
}

/** The service stores the random part in this form only. */
export function hashToken(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

export function isSameSession(stored: Session, presented: PresentedSession): boolean {
  return stored.personId === presented.personId && stored.accountId === presented.accountId;
}

export function isAlive({ createdAt, lastSeenAt, endedAt }: Session, nowMillis: number): boolean {
  return (
    endedAt === undefined && nowMillis - createdAt < sessionMillis && nowMillis - lastSeenAt < idleMillis
  );
}

/** Whether the session is invalid in this account: it was ended, or is older than the person's membership. */
export function wasEndedHere(
  { createdAt }: Pick<Session, 'createdAt'>,
  { since, sessionsEndedAt }: Pick<Operator, 'since' | 'sessionsEndedAt'>,
): boolean {
  return createdAt < Date.parse(since) || (sessionsEndedAt !== undefined && createdAt <= sessionsEndedAt);
}

export interface CookieNames {
  readonly session: string;
  readonly signIn: string;
}

/** The prefix __Host- needs https. On one machine the name holds the port: ports share cookies. */
export function cookieNames({ protocol, port }: URL): CookieNames {
  if (protocol === 'https:') return { session: '__Host-darkroom', signIn: '__Host-darkroom-sign-in' };
  return { session: `darkroom-portal-${port}`, signIn: `darkroom-portal-${port}-sign-in` };
}

/** A value of set-cookie. @param maxAgeSeconds 0 removes the cookie */
export function setCookie(portal: URL, name: string, value: string, maxAgeSeconds: number): string {
  const secure = portal.protocol === 'https:' ? '; Secure' : '';
  return `${name}=${value}; Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Lax${secure}`;
}

/** The value of a cookie. @param cookies "name=value" each */
export function cookieIn(cookies: readonly string[], name: string): string | undefined {
  const found = cookies.map((cookie) => cookie.trim()).find((cookie) => cookie.startsWith(`${name}=`));
  return found?.slice(name.length + 1);
}

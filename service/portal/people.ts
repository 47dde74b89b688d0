/** The people of the portal: who signs in, what they may do, and how they get in. */
import { createHash } from 'node:crypto';
import type { Account } from '../accounts/account.ts';
import { resultsIn, versionOf } from '../accounts/version.ts';
import { limitRanges } from '../contract/limits.ts';
import { type PortalOperation, type Role, roles } from '../contract/operations.ts';
import type { PeopleView } from '../contract/portal-views.ts';
import type { MailChoice } from '../notices/mail-readers.ts';
import type { AccountId, PersonId } from '../values/ids.ts';
import { type Micros, toUsd } from '../values/money.ts';
import { asciiLower } from '../values/text.ts';

/** A person who signed in, as the issuer names them. A later change of address changes nothing here. */
export interface Person {
  readonly id: PersonId;
  readonly issuer: string;
  readonly subject: string;
  /** The verified address of the last sign-in, as normalEmail() gives it. */
  readonly email: string;
  /** The accounts of the person, for the switch. The item of the member decides what the person may do. */
  readonly accounts: readonly AccountId[];
  /** RFC 3339, as the other times. */
  readonly createdAt: string;
  readonly lastSignInAt: string;
}

export type PeopleScope = AccountId | 'SERVICE';

export interface Operator {
  readonly personId: PersonId;
  readonly email: string;
  readonly since: string;
  readonly lastSignInAt?: string;
  /** Unix milliseconds. Sessions that began by then are dead here. */
  readonly sessionsEndedAt?: number;
}

export interface Member extends Operator {
  readonly accountId: AccountId;
  readonly role: Role;
  /** The most that a key may spend in a month when this person creates or changes it. Absent: no limit. */
  readonly keyCapMicros?: Micros;
  /** The notices that the person gets by e-mail. */
  readonly mail?: MailChoice;
}

/** An invitation by address. The first sign-in with that verified address takes it up, once. */
export interface Invitation {
  /** The base64url of SHA-256 of the address, as invitationIdOf() gives it. */
  readonly id: string;
  /** 'SERVICE': to the people of the operator. */
  readonly accountId: PeopleScope;
  readonly email: string;
  readonly role: Role | 'operator';
  readonly keyCapMicros?: Micros;
  readonly invitedAt: string;
  readonly invitedBy: string;
  /** Unix milliseconds. */
  readonly expiresAt: number;
}

/** The session of a cookie. The table holds a hash of the cookie's random part. */
export interface Session {
  readonly hash: string;
  readonly personId: PersonId;
  /** Absent: the person belongs to no account. */
  readonly accountId?: AccountId;
  /** Unix milliseconds, as the other times. When the person proved who they are. */
  readonly authenticatedAt: number;
  /** When the person signed in. A switch of the account keeps this time, so that no switch prolongs a session. */
  readonly createdAt: number;
  /** To the minute. */
  readonly lastSeenAt: number;
  readonly endedAt?: number;
}

export const invitationMillis = 14 * 86_400_000;
/** A session ends this long after its sign-in, whatever happens. */
export const sessionMillis = 12 * 3_600_000;
/** A session ends when no request came for this long. */
export const idleMillis = 60 * 60_000;
/** For this long a sign-in counts as fresh. */
export const freshMillis = 15 * 60_000;

/** The id is the same for the same person at the same issuer. */
export function personIdOf(issuer: string, subject: string): PersonId {
  const name = `${lastingName(issuer)}\n${subject}`;
  return createHash('sha256').update(name).digest('base64url') as PersonId;
}

/** An issuer on this machine has another port after another start, and its people stay the same. */
function lastingName(issuer: string): string {
  return issuer.replace(/^(http:\/\/[^/]+):\d+(?=\/|$)/, '$1');
}

/** One "@", no white space, and a domain: an issuer knows better what an address is. */
export function isAddress(text: string): boolean {
  return text.length <= 254 && text.isWellFormed() && /^[^\s@]+@[^\s@]+\.[^\s@.]+$/.test(text);
}

/** Addresses are compared in this form. Different letters of similar shape stay different. */
export function normalEmail(address: string): string {
  return asciiLower(address.trim());
}

/** The id of an invitation, and the key under which it is found at a sign-in. */
export function invitationIdOf(address: string): string {
  return createHash('sha256').update(normalEmail(address)).digest('base64url');
}

/** An invitation from now on, under the id of its address. */
export function newInvitation<To extends Omit<Invitation, 'id' | 'invitedAt' | 'expiresAt'>>(
  to: To,
  nowMillis: number,
): To & Invitation {
  return {
    ...to,
    id: invitationIdOf(to.email),
    invitedAt: new Date(nowMillis).toISOString(),
    expiresAt: nowMillis + invitationMillis,
  };
}

/** Whether a member with this role may call an operation that asks for the other. */
export function mayAct(role: Role, least: Role, isForFinance = false): boolean {
  if (role === 'finance') return isForFinance;
  return roles.indexOf(role) >= roles.indexOf(least);
}

export function needsFreshSignIn(
  operation: PortalOperation,
  { authenticatedAt }: Pick<Session, 'authenticatedAt'>,
  nowMillis: number,
): boolean {
  return operation.isFresh === true && nowMillis - authenticatedAt >= freshMillis;
}

// The version of something that people edit: a hash of the values that they can change. The page sends it back
// with a change, so that no one overwrites another person's change.

export function accountVersion(account: Account): string {
  const { name, condition, creditLineMicros, limits } = account;
  const names = Object.keys(limitRanges) as (keyof typeof limitRanges)[];
  const ofLimits = names.map((one) => limits[one]);
  return versionOf([name, condition, creditLineMicros, ...ofLimits, ...resultsIn(account)]);
}

export function memberVersion(member: Pick<Member, 'role' | 'keyCapMicros'>): string {
  return versionOf([member.role, member.keyCapMicros]);
}

// What the owners of an account see of its people.

/** @param you the person who views the page */
export function memberView(member: Member, you: PersonId): PeopleView['people'][number] {
  return {
    id: member.personId,
    email: member.email,
    role: member.role,
    since: member.since,
    last_sign_in_at: member.lastSignInAt ?? null,
    is_you: member.personId === you,
    key_cap: member.keyCapMicros === undefined ? null : toUsd(member.keyCapMicros),
    version: memberVersion(member),
  };
}

export function invitationView(
  invitation: Invitation & { readonly role: Role },
): PeopleView['invitations'][number] {
  return {
    id: invitation.id,
    email: invitation.email,
    role: invitation.role,
    invited_at: invitation.invitedAt,
    invited_by: invitation.invitedBy,
    expires_at: new Date(invitation.expiresAt).toISOString(),
  };
}

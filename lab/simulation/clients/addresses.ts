/** The addresses of people, and what the issuer says of who has them. */
import type { Claims } from '../../../service/portal/sign-in/openid.ts';
import type { AccountId } from '../../../service/values/ids.ts';

export const issuer = 'https://issuer.test';

/** The place of the second owner among the addresses that are invited. The places before it are those of guests. */
export const ownersPlace = 2;

/** The address of a person with whom an account begins. */
export function emailOf(place: number): string {
  return `person-${place}@client.test`;
}

/** The name that the issuer has for a person with whom an account begins. */
export function subjectOf(account: AccountId, place: number): string {
  return `${account} ${place}`;
}

/** An address that is invited. */
export function addressAt(place: number): string {
  return place === ownersPlace ? emailOf(1) : `guest-${place}@client.test`;
}

/** @param who tells apart the people who show the same address of a guest */
export function claimsAt(account: AccountId, place: number, who: number): Claims {
  const subject = place === ownersPlace ? subjectOf(account, 1) : `guest ${place} ${who}`;
  return { issuer, subject, email: addressAt(place), emailVerified: true };
}

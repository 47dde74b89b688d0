/** The people of the local issuer. A subject holds everything that the issuer says of the person. */
import { asciiLower } from '../../core/characters.ts';

const unverified = 'unverified:';

/** A person with an unverified address is somebody else than the owner of that address. */
export function subjectOf(email: string, isVerified: boolean): string {
  return `${isVerified ? '' : unverified}${asciiLower(email.trim())}`;
}

export function addressOf(subject: string): { readonly email: string; readonly email_verified: boolean } {
  const isVerified = !subject.startsWith(unverified);
  return { email: isVerified ? subject : subject.slice(unverified.length), email_verified: isVerified };
}

/** The people of the local issuer. A subject holds everything that the issuer says of the person. */
const unverified = 'unverified:';

/** Letters that only look alike stay different, as the service has it. */
const asciiLower = (text: string): string => text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());

/** A person with an unverified address need not be the owner of that address. */
export function subjectOf(email: string, isVerified: boolean): string {
  return `${isVerified ? '' : unverified}${asciiLower(email.trim())}`;
}

export function addressOf(subject: string): { readonly email: string; readonly email_verified: boolean } {
  const isVerified = !subject.startsWith(unverified);
  return { email: isVerified ? subject : subject.slice(unverified.length), email_verified: isVerified };
}

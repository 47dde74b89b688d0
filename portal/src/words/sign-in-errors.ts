/** Why a sign-in did not succeed, for each word with which it comes back. */
import type { SignInError } from '../../../service/contract/operations.ts';

const reasons: Readonly<Record<SignInError, string>> = {
  cancelled: 'You stopped the sign-in.',
  expired: 'The sign-in took longer than ten minutes, or was begun in another browser. Begin again.',
  refused: 'The sign-in was refused where you sign in. Try again; if it stays, ask the operator.',
  unavailable: 'The service where you sign in does not answer. Try again in a minute.',
  unverified: 'Your address is not verified where you sign in. Verify it there, then sign in again.',
  not_invited: 'Nobody has invited this address. Ask an owner of your account, or the operator.',
  stale:
    'You were not asked for your password or passkey again, so nothing was done. Sign out where you sign in, then try again.',
  blocked: 'Too many requests from your network were rejected. Wait for 15 minutes.',
};

/** The sentence for `?error=WORD`. */
export function signInError(word: string | null): string | undefined {
  if (word === null) return undefined;
  return Object.hasOwn(reasons, word)
    ? reasons[word as SignInError]
    : 'The sign-in did not succeed. Try again.';
}

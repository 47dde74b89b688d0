/** The signed-in person and the person's rights. */
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import {
  type PortalOperation,
  type PortalOperationName,
  portalOperations,
  roles,
  type SignInError,
} from '../../service/contract/operations.ts';
import type { MeView } from '../../service/contract/portal-views.ts';

export interface Session {
  readonly me: MeView;
  /** Reads the session again. */
  readonly reload: () => void;
}

export const SessionContext = createContext<Session | null>(null);

export function useSession(): Session {
  const session = useContext(SessionContext);
  if (session === null) throw new Error('This part of the page needs somebody who is signed in.');
  return session;
}

/** Whether this person may call the operation. The service decides; the page only does not offer what fails. */
export function mayCall({ account, is_operator: isOperator }: MeView, name: PortalOperationName): boolean {
  const { role, isForFinance }: PortalOperation = portalOperations[name];
  if (role === 'person') return true;
  if (role === 'operator') return isOperator;
  if (account?.role === 'finance') return isForFinance === true;
  return account !== null && roles.indexOf(account.role) >= roles.indexOf(role);
}

export function useMay(name: PortalOperationName): boolean {
  return mayCall(useSession().me, name);
}

/**
 * The contact for a client. An operator sees the command instead.
 * @param command of `npm run admin --`. ACCOUNT stands for the account of the session.
 */
export function OperatorContact({ command }: { command?: string }) {
  const { account, is_operator: isOperator, service } = useSession().me;
  if (isOperator && command !== undefined && account !== null)
    return <code>npm run admin -- {command.replace('ACCOUNT', account.id)}</code>;
  return <>{service.contact ?? 'Ask the operator of this service.'}</>;
}

/** Why a sign-in failed, for each error word of the address. */
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

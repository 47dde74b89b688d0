/** Who is signed in, and what this person may do. */
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { portalOperations, roles, type PortalOperationName } from '../../service/contract/operations.ts';
import type { MeView } from '../../service/contract/portal-views.ts';

export interface Session {
  readonly me: MeView;
  /** Reads anew who is signed in. */
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
  const { role } = portalOperations[name];
  if (role === 'person') return true;
  if (role === 'operator') return isOperator;
  return account !== null && roles.indexOf(account.role) >= roles.indexOf(role);
}

export function useMay(name: PortalOperationName): boolean {
  return mayCall(useSession().me, name);
}

import { useSession } from '../session.ts';

/**
 * Whom a client asks. An operator reads the command that does it.
 * @param command of `npm run admin --`. ACCOUNT stands for the account of the session.
 */
export function WhomToAsk({ command }: { command?: string }) {
  const { account, is_operator: isOperator, service } = useSession().me;
  if (isOperator && command !== undefined && account !== null)
    return <code>npm run admin -- {command.replace('ACCOUNT', account.id)}</code>;
  return <>{service.contact ?? 'Ask the operator of this service.'}</>;
}

/** The log of actions. The row comes before the operation, so an operation that died left a trace. */
import type { PortalOperation, PortalOperationName } from '../../contract/operations.ts';
import { Problem } from '../../values/problem.ts';
import { errorName } from '../../values/runtime.ts';
import type { Action } from '../../operated/action-store.ts';
import type { PortalServices } from '../open.ts';
import type { PersonCaller, PortalAnswer } from './caller.ts';

/** Whether the log names the operation. */
function isLogged({ method, isLogged: asStated }: PortalOperation): boolean {
  return method !== 'GET' && asStated !== false;
}

/**
 * Runs the operation between the two writes of its row. A failure of the first write stops the operation.
 * @param target an id
 */
export async function noted(
  name: PortalOperationName,
  operation: PortalOperation,
  target: string,
  caller: PersonCaller,
  services: Pick<PortalServices, 'actions' | 'clock' | 'randomBytes' | 'log'>,
  run: () => Promise<PortalAnswer>,
): Promise<PortalAnswer> {
  const scope = operation.role === 'operator' ? 'SERVICE' : caller.account?.id;
  if (!isLogged(operation) || scope === undefined) return run();
  const at = new Date(services.clock.now()).toISOString();
  const action: Action = {
    scope,
    id: `${at}#${Buffer.from(services.randomBytes(6)).toString('base64url')}`,
    at,
    personId: caller.person.id,
    email: caller.person.email,
    action: name,
    ...(target !== '' && { target }),
    outcome: 'begun',
  };
  await services.actions.begin(action);
  const end = async (how: Parameters<PortalServices['actions']['end']>[1]): Promise<void> => {
    await services.actions.end(action, how).catch((error: unknown) => {
      // The action stays done. The row still says that the action began.
      services.log.info('action_end_not_noted', { action: name, error: errorName(error) });
    });
  };
  try {
    const answer = await run();
    await end({ outcome: 'done', ...answer.logged });
    return answer;
  } catch (error) {
    // A refusal changed nothing. After any other error the outcome is unknown.
    if (error instanceof Problem && error.status < 500) await end({ outcome: 'refused', note: error.code });
    throw error;
  }
}

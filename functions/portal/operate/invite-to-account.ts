import type { OperateServices } from '../../services/portal-operate.ts';
import type { PortalHandle } from '../http/caller.ts';
import { invite } from '../http/invite.ts';
import { inAccountLog, readOperated } from './operated-account.ts';

/** POST /operator/accounts/{id}/people: usually the first owner of a new account. */
export const inviteToAccount: PortalHandle<'inviteToAccount', OperateServices> = async (
  request,
  caller,
  services,
) => {
  const { id } = await readOperated(request.pathId, services);
  const operation = { name: 'inviteToAccount', note: 'an invitation' } as const;
  const answer = await inAccountLog(id, operation, caller, services, () =>
    invite(request, id, 'operator', services),
  );
  // The row names the account by the path.
  const { note } = answer.logged ?? {};
  return { ...answer, ...(note !== undefined && { logged: { note } }) };
};

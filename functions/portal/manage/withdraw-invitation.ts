import { Problem } from '../../../core/problem.ts';
import type { ManageServices } from '../../services/portal-manage.ts';
import type { PortalHandle } from '../http/caller.ts';

/** DELETE /invitations/{id}. */
export const withdrawInvitation: PortalHandle<'withdrawInvitation', ManageServices> = async (
  request,
  caller,
  services,
) => {
  // The same form as a person's id: the base64url of 32 bytes. No other text is a key of the table.
  const isId = /^[\w-]{43}$/.test(request.pathId);
  if (!isId || !(await services.people.withdraw(caller.account.id, request.pathId))) throw noSuchInvitation();
  return { status: 200, body: {} };
};

/** 404: it is taken up, withdrawn, over, or another account's. */
function noSuchInvitation(): Problem {
  return new Problem('ERR_NOT_FOUND', 'There is no open invitation with this id.');
}

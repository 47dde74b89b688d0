import type { ManageServices } from '../../services/portal-manage.ts';
import type { PortalHandle } from '../http/caller.ts';
import { checkChanged, readMember } from './members.ts';

/** DELETE /people/{id}: the person has no place in the account from their next request on. Their keys stay. */
export const removePerson: PortalHandle<'removePerson', ManageServices> = async (
  request,
  caller,
  services,
) => {
  const read = await readMember(caller.account, request.pathId, services.people);
  checkChanged(await services.people.removeMember(read));
  return { status: 200, body: {}, logged: { note: read.email } };
};

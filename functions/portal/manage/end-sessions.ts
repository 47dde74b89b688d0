import type { ManageServices } from '../../services/portal-manage.ts';
import type { PortalHandle } from '../http/caller.ts';
import { noSuchPerson, readMember } from './members.ts';

/** POST /people/{id}/end-sessions: every session of the person in this account is dead at its next request. */
export const endSessions: PortalHandle<'endSessions', ManageServices> = async (request, caller, services) => {
  const { personId, email } = await readMember(caller.account, request.pathId, services.people);
  const ended = await services.people.endSessions(caller.account.id, personId, services.clock.now());
  if (!ended) throw noSuchPerson();
  return { status: 200, body: {}, logged: { note: email } };
};

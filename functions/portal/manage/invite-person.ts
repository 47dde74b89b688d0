import type { ManageServices } from '../../services/portal-manage.ts';
import type { PortalHandle } from '../http/caller.ts';
import { invite } from '../http/invite.ts';

/** POST /people: the first sign-in with this verified address belongs to the account. */
export const invitePerson: PortalHandle<'invitePerson', ManageServices> = (request, caller, services) =>
  invite(request, caller.account.id, caller.person.email, services);

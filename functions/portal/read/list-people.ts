import type { Role } from '../../../core/contract.ts';
import { invitationView, memberView } from '../../../core/portal/people-view.ts';
import type { Invitation } from '../../../core/portal/people.ts';
import type { PeopleView } from '../../../core/portal/views.ts';
import type { ReadServices } from '../../services/portal-read.ts';
import type { PortalHandle } from '../http/caller.ts';

/** GET /people: who belongs to the account, and who is invited. */
export const listPeople: PortalHandle<'listPeople', ReadServices> = async (
  _request,
  { account, person },
  { people },
) => {
  const [members, invitations] = await Promise.all([
    people.listMembers(account.id),
    people.listInvitations(account.id),
  ]);
  const body: PeopleView = {
    people: members.map((member) => memberView(member, person.id)),
    invitations: invitations.filter(isOfAccount).map(invitationView),
  };
  return { status: 200, body };
};

/** An account has no operators. */
function isOfAccount(invitation: Invitation): invitation is Invitation & { readonly role: Role } {
  return invitation.role !== 'operator';
}

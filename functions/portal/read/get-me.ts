import { freshMillis } from '../../../core/portal/people.ts';
import type { MeView } from '../../../core/portal/views.ts';
import type { ReadServices } from '../../services/portal-read.ts';
import type { PortalHandle } from '../http/caller.ts';

/** GET /me: who is signed in, where they belong, and what the pages have to know of the service. */
export const getMe: PortalHandle<'getMe', ReadServices> = async (_request, caller, services) => {
  const { person, session, account, member, isOperator } = caller;
  const { settings, access, reads } = services;
  const { members } = await access.placesOf(person.id, person.accounts);
  const names = await reads.accountNames(members.map(({ accountId }) => accountId));
  const body: MeView = {
    person: {
      id: person.id,
      email: person.email,
      signed_in_at: new Date(session.authenticatedAt).toISOString(),
    },
    account:
      account && member
        ? { id: account.id, name: account.name, role: member.role, condition: account.condition }
        : null,
    accounts: members.map(({ accountId: id, role }) => ({ id, name: names.get(id) ?? id, role })),
    is_operator: isOperator,
    fresh_until: new Date(session.authenticatedAt + freshMillis).toISOString(),
    service: {
      api_url: settings.apiUrl,
      payment_url: settings.paymentUrl,
      contact: settings.contact,
      credentials_url: settings.credentialsUrl,
      inbox_url: settings.inboxUrl,
    },
  };
  return { status: 200, body };
};

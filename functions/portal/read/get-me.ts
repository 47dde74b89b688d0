import { freshMillis } from '../../../core/portal/people.ts';
import type { MeView } from '../../../core/portal/views.ts';
import type { ReadServices } from '../../services/portal-read.ts';
import type { PortalHandle } from '../http/caller.ts';

/** GET /me: who is signed in, where they belong, and what the pages have to know of the service. */
export const getMe: PortalHandle<'getMe', ReadServices> = async (_request, caller, services) => {
  const { person, session, account, member, isOperator } = caller;
  const { settings, reads, clientUrls } = services;
  const { places, closed } = await reads.placesAndSwitch(person.id, person.accounts);
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
    accounts: places.map(({ accountId: id, accountName: name, role }) => ({ id, name, role })),
    is_operator: isOperator,
    fresh_until: new Date(session.authenticatedAt + freshMillis).toISOString(),
    service: {
      api_url: settings.apiUrl,
      openai_url: clientUrls.openai,
      mcp_url: clientUrls.mcp,
      payment_url: settings.paymentUrl,
      contact: settings.contact,
      credentials_url: settings.credentialsUrl,
      inbox_url: settings.inboxUrl,
      closed_message: closed?.message ?? null,
    },
  };
  return { status: 200, body };
};

import type { InvitedView } from '../../../service/contract/portal-views.ts';

/** What a person who invited somebody has to know or to do next. */
export function invitedWords({ mail, sign_in_at: address }: InvitedView): string {
  switch (mail) {
    case 'sent':
      return 'The person is invited. An e-mail with a first password is on its way.';
    case 'none':
      return `The person is invited. Tell them to sign in at ${address}`;
    case 'refused':
      return `The invitation is stored, but no e-mail could be sent. Invite the address again later. The person signs in at ${address}`;
  }
}

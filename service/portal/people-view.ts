/** What the owners of an account see of its people. */
import type { Role } from '../contract/operations.ts';
import type { PeopleView } from '../contract/portal-views.ts';
import type { PersonId } from '../values/ids.ts';
import { toUsd } from '../values/money.ts';
import type { Invitation, Member } from './people.ts';
import { memberVersion } from './version.ts';

/** @param you the person who views the page */
export function memberView(member: Member, you: PersonId): PeopleView['people'][number] {
  return {
    id: member.personId,
    email: member.email,
    role: member.role,
    since: member.since,
    last_sign_in_at: member.lastSignInAt ?? null,
    is_you: member.personId === you,
    key_cap: member.keyCapMicros === undefined ? null : toUsd(member.keyCapMicros),
    version: memberVersion(member),
  };
}

export function invitationView(
  invitation: Invitation & { readonly role: Role },
): PeopleView['invitations'][number] {
  return {
    id: invitation.id,
    email: invitation.email,
    role: invitation.role,
    invited_at: invitation.invitedAt,
    invited_by: invitation.invitedBy,
    expires_at: new Date(invitation.expiresAt).toISOString(),
  };
}

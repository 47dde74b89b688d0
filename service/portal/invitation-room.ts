/** How many invitations an account may have and send: all accounts share one sender of e-mails. */
import type { Invitation } from './people.ts';

/** Invitations of an account that can still be taken up. */
const mostOpenInvitations = 20;
/** Invitations that an account sends on a UTC day. */
const mostInvitationsADay = 20;
/** E-mails a day of the user pool's own sender ("Quotas in Amazon Cognito"). Another issuer sends none. */
export const poolEmailsADay = 50;

/** How many invitations were sent on a day: by the account, and by all accounts together. */
export interface SentInvitations {
  readonly byAccount: number;
  readonly inAll: number;
}

export type InvitationRoom =
  | { readonly kind: 'room' }
  | { readonly kind: 'too_many_open' | 'too_many_sent'; readonly limit: number; readonly current: number };

/**
 * Whether the account may send this invitation. An account may use half of what the other accounts have left of the
 * day, so that the next account always finds a share.
 * @param listed the invitations of the account, also those that ended
 * @param emailsADay of the sender that all accounts share
 */
export function roomForInvitation(
  { id }: Pick<Invitation, 'id'>,
  listed: readonly Invitation[],
  sent: SentInvitations,
  { emailsADay, nowMillis }: { readonly emailsADay: number; readonly nowMillis: number },
): InvitationRoom {
  // A new invitation to the same address replaces the earlier one.
  const open = listed.filter((one) => one.expiresAt > nowMillis && one.id !== id).length;
  if (open >= mostOpenInvitations)
    return { kind: 'too_many_open', limit: mostOpenInvitations, current: open };
  const leftByOthers = emailsADay - (sent.inAll - sent.byAccount);
  const limit = Math.max(0, Math.min(mostInvitationsADay, Math.ceil(leftByOthers / 2)));
  if (sent.byAccount >= limit) return { kind: 'too_many_sent', limit, current: sent.byAccount };
  return { kind: 'room' };
}

export function noRoomMessage({
  kind,
  limit,
  current,
}: Exclude<InvitationRoom, { readonly kind: 'room' }>): string {
  return kind === 'too_many_open'
    ? `At most ${limit} invitations may be open at once. Withdraw one, or wait until one is taken up or ends.`
    : `At most ${limit} invitations may be sent today, and ${current} were. Invite again after midnight UTC.`;
}

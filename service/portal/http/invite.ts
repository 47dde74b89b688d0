/** Invitations, which owners send to their account and the operator to every account. */
import * as z from 'zod/mini';
import type { ApiRequest } from '../../api/request.ts';
import { roles } from '../../contract/operations.ts';
import type { InvitedView } from '../../contract/portal-views.ts';
import type { CommonServices } from '../../platform/common.ts';
import type { Registration } from '../../platform/platform.ts';
import type { AccountId } from '../../values/ids.ts';
import {
  type FieldError,
  invalidRequest,
  neverRetry,
  type Problem,
  retryLater,
  withHeaders,
} from '../../values/problem.ts';
import { errorName } from '../../values/runtime.ts';
import { type InvitationRoom, noRoomMessage } from '../invitation-room.ts';
import type { InvitationEmail, PeopleStore } from '../people-store.ts';
import { invitationView, isAddress, newInvitation, normalEmail } from '../people.ts';
import type { PortalSettings } from '../settings.ts';
import { microsOf, parseBody, usd } from '../../operated/body.ts';
import type { PortalAnswer } from './caller.ts';

const address = z.string().check(
  z.refine((text) => isAddress(normalEmail(text)), {
    error: 'must be an e-mail address',
    params: { code: 'invalid_value' },
  }),
);

export const role = z.enum(roles);
export const keyCap = z.optional(z.nullable(usd('zero')));

const invitationSchema = z.strictObject({ email: address, role, key_cap: keyCap });

/** A cap is for developers alone: an owner could lift it, and a viewer makes no keys. */
export function capProblem(body: {
  readonly role?: string | undefined;
  readonly key_cap?: number | null | undefined;
}): FieldError | undefined {
  if (body.role === 'developer' || typeof body.key_cap !== 'number') return undefined;
  return { field: 'key_cap', code: 'not_allowed', message: 'only a developer has a limit for keys' };
}

export interface InviteServices extends CommonServices, Registration {
  readonly people: PeopleStore;
  readonly settings: Pick<PortalSettings, 'portalUrl'>;
}

/** Stores the invitation instead of an earlier one. Returns whether an e-mail was sent. */
export async function invite(
  request: ApiRequest,
  to: AccountId,
  invitedBy: string,
  services: InviteServices,
): Promise<PortalAnswer<InvitedView>> {
  const given = parseBody(request, invitationSchema, (body) => [capProblem(body)]);
  const email = normalEmail(given.email);
  const members = await services.people.listMembers(to);
  if (members.some((member) => member.email === email))
    throw invalidRequest([{ field: 'email', code: 'taken', message: 'belongs to the account already' }]);
  const nowMillis = services.clock.now();
  const cap = typeof given.key_cap === 'number' && { keyCapMicros: microsOf(given.key_cap) };
  const invitation = newInvitation({ accountId: to, email, role: given.role, ...cap, invitedBy }, nowMillis);
  const room = await services.people.invite(invitation, services.emailsADay);
  if (room.kind !== 'room') throw noRoom(room, nowMillis);
  const body: InvitedView = {
    ...invitationView(invitation),
    mail: await writeTo(email, services),
    sign_in_at: services.settings.portalUrl.href,
  };
  return {
    status: 201,
    body,
    logged: { target: invitation.id, note: `${email} as ${given.role}` },
  };
}

const withdrawalRetrySeconds = 60;

function noRoom(room: Exclude<InvitationRoom, { readonly kind: 'room' }>, nowMillis: number): Problem {
  const { kind, limit, current } = room;
  const [reason, afterSeconds] =
    kind === 'too_many_open'
      ? ['open_invitations', withdrawalRetrySeconds]
      : ['invitations_sent', secondsUntilTomorrow(nowMillis)];
  const details = { scope: 'account', reason, limit, current };
  const refusal = retryLater('ERR_QUOTA_EXCEEDED', noRoomMessage(room), details, afterSeconds);
  return kind === 'too_many_open' ? withHeaders(refusal, neverRetry) : refusal;
}

function secondsUntilTomorrow(nowMillis: number): number {
  return (86_400_000 - (nowMillis % 86_400_000)) / 1000;
}

/** The invitation is valid even if the e-mail fails. */
async function writeTo(email: string, { registerUser, log }: InviteServices): Promise<InvitationEmail> {
  try {
    return await registerUser(email);
  } catch (error) {
    log.info('invitation_email_refused', {
      error: error instanceof Error ? error.message : errorName(error),
    });
    return 'refused';
  }
}

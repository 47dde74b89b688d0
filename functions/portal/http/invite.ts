/** Invitations, which owners send to their account and the operator to every account. */
import * as z from 'zod/mini';
import { roles } from '../../../core/contract.ts';
import type { AccountId } from '../../../core/ids.ts';
import {
  invitationIdOf,
  invitationMillis,
  normalEmail,
  type Invitation,
} from '../../../core/portal/people.ts';
import { invitationView } from '../../../core/portal/people-view.ts';
import type { PeopleStore } from '../../../core/ports/people.ts';
import { invalidRequest, type FieldError } from '../../../core/problem.ts';
import type { ApiRequest } from '../../http/request.ts';
import type { CommonServices } from '../../services/clients.ts';
import { microsOf, parseBody, usd } from './body.ts';
import type { PortalAnswer } from './caller.ts';

/** One "@", no white space, and a domain: an issuer knows better what an address is. */
const address = z.string().check(
  z.refine((text) => text.length <= 254 && /^[^\s@]+@[^\s@]+\.[^\s@.]+$/.test(text.trim()), {
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

/** Services of who invites. */
export interface InviteServices extends CommonServices {
  readonly people: PeopleStore;
  /** Makes the sign-in of the invited person possible, where the service has its own user pool. */
  readonly registerUser: (email: string) => Promise<void>;
}

/** Stores the invitation. A repetition for the same address takes the place of the earlier invitation. */
export async function invite(
  request: ApiRequest,
  to: AccountId,
  invitedBy: string,
  services: InviteServices,
): Promise<PortalAnswer> {
  const body = parseBody(request, invitationSchema, (given) => [capProblem(given)]);
  const email = normalEmail(body.email);
  const members = await services.people.listMembers(to);
  if (members.some((member) => member.email === email))
    throw invalidRequest([{ field: 'email', code: 'taken', message: 'belongs to the account already' }]);
  const nowMillis = services.clock.now();
  const invitation = {
    id: invitationIdOf(email),
    accountId: to,
    email,
    role: body.role,
    ...(typeof body.key_cap === 'number' && { keyCapMicros: microsOf(body.key_cap) }),
    invitedAt: new Date(nowMillis).toISOString(),
    invitedBy,
    expiresAt: nowMillis + invitationMillis,
  } satisfies Invitation;
  await services.people.invite(invitation);
  await services.registerUser(email);
  return {
    status: 201,
    body: invitationView(invitation),
    logged: { target: invitation.id, note: `${email} as ${body.role}` },
  };
}

import * as z from 'zod/mini';
import { memberView } from '../../../core/portal/people-view.ts';
import { memberVersion } from '../../../core/portal/version.ts';
import { invalidRequest } from '../../../core/problem.ts';
import type { ManageServices } from '../../services/portal-manage.ts';
import { microsOf, parseBody, version } from '../http/body.ts';
import type { PortalHandle } from '../http/caller.ts';
import { capProblem, keyCap, role } from '../http/invite.ts';
import { changedMeanwhile } from '../http/portal-problems.ts';
import { checkChanged, readMember } from './members.ts';

const personSchema = z.strictObject({ role: z.optional(role), key_cap: keyCap, version });

/** PATCH /people/{id}: role and limit of a person hold from the person's next request on. */
export const changePerson: PortalHandle<'changePerson', ManageServices> = async (
  request,
  caller,
  services,
) => {
  const body = parseBody(request, personSchema);
  const read = await readMember(caller.account, request.pathId, services.people);
  if (memberVersion(read) !== body.version) throw changedMeanwhile();
  const next = body.role ?? read.role;
  const wrong = capProblem({ role: next, key_cap: body.key_cap });
  if (wrong) throw invalidRequest([wrong]);
  const kept = body.key_cap === undefined ? read.keyCapMicros : undefined;
  const cap = typeof body.key_cap === 'number' ? microsOf(body.key_cap) : kept;
  const place = { role: next, ...(next === 'developer' && cap !== undefined && { keyCapMicros: cap }) };
  checkChanged(await services.people.changeMember(read, place));
  const { keyCapMicros: _before, ...rest } = read;
  return {
    status: 200,
    body: memberView({ ...rest, ...place }, caller.person.id),
    logged: { note: `${read.email} is ${next}` },
  };
};

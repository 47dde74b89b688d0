/** The members of an account, as its owners manage them. */
import * as z from 'zod/mini';
import type { Account } from '../../accounts/account.ts';
import { topicOf } from '../../notices/mail-readers.ts';
import { parsePersonId } from '../../values/ids.ts';
import { invalidRequest, Problem } from '../../values/problem.ts';
import { microsOf, parseBody, version } from '../../operated/body.ts';

import { capProblem, invite, keyCap, role } from '../http/invite.ts';
import { changedMeanwhile } from '../http/portal-request.ts';
import type { PeopleStore, MemberChange } from '../people-store.ts';
import { type Member, memberVersion, memberView } from '../people.ts';
import type { ManageHandle } from './open.ts';

/** The member that the path names. Throws 404, the same for an absent person and another account's. */
async function readMember(
  { id }: Pick<Account, 'id'>,
  pathId: string,
  people: Pick<PeopleStore, 'listMembers'>,
): Promise<Member> {
  const personId = parsePersonId(pathId);
  const member =
    personId && (await people.listMembers(id)).find((candidate) => candidate.personId === personId);
  if (!member) throw noSuchPerson();
  return member;
}

function checkChanged(outcome: MemberChange): void {
  switch (outcome) {
    case 'changed':
      return;
    case 'gone':
      throw noSuchPerson();
    case 'conflict':
      throw changedMeanwhile();
    case 'last_owner':
      throw lastOwner();
  }
}

function noSuchPerson(): Problem {
  return new Problem('ERR_NOT_FOUND', 'There is no person with this id in the account.');
}

function lastOwner(): Problem {
  const message = 'The account must keep an owner. Make somebody else an owner first.';
  return new Problem('ERR_CONFLICT', message, { reason: 'last_owner' });
}

const personSchema = z.strictObject({ role: z.optional(role), key_cap: keyCap, version });

/** PATCH /people/{id}: role and limit of a person hold from the person's next request on. */
export const changePerson: ManageHandle<'changePerson'> = async (request, caller, services) => {
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

/** POST /people/{id}/end-sessions: every session of the person in this account is dead at its next request. */
export const endSessions: ManageHandle<'endSessions'> = async (request, caller, services) => {
  const { personId, email } = await readMember(caller.account, request.pathId, services.people);
  const ended = await services.people.endSessions(caller.account.id, personId, services.clock.now());
  if (!ended) throw noSuchPerson();
  return { status: 200, body: {}, logged: { note: email } };
};

/** POST /people: the first sign-in with this verified address belongs to the account. */
export const invitePerson: ManageHandle<'invitePerson'> = (request, caller, services) =>
  invite(request, caller.account.id, caller.person.email, services);

/**
 * DELETE /people/{id}: from their next request on the person is no member of the account. Their keys stay.
 */
export const removePerson: ManageHandle<'removePerson'> = async (request, caller, services) => {
  const read = await readMember(caller.account, request.pathId, services.people);
  checkChanged(await services.people.removeMember(read));
  // Nothing is published to the topic any more: the choice was in the item of the member. The person may have chosen
  // since it was read, so the topic is deleted in any case.
  const topic = topicOf(read.accountId, read.personId);
  await services.removeTopic?.(topic).catch(() => services.log.info('topic_left', { topic }));
  return { status: 200, body: {}, logged: { note: read.email } };
};

export const withdrawInvitation: ManageHandle<'withdrawInvitation'> = async (request, caller, services) => {
  // The same form as a person's id: the base64url of 32 bytes. No other text is a key of the table.
  const isId = /^[\w-]{43}$/.test(request.pathId);
  if (!isId || !(await services.people.withdraw(caller.account.id, request.pathId))) throw noSuchInvitation();
  return { status: 200, body: {} };
};

/** 404: it is taken up, withdrawn, over, or another account's. */
function noSuchInvitation(): Problem {
  return new Problem('ERR_NOT_FOUND', 'There is no open invitation with this id.');
}

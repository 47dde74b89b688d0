/** The members of an account, as its owners manage them. */
import type { Account } from '../../../core/account.ts';
import { parsePersonId } from '../../../core/ids.ts';
import type { Member } from '../../../core/portal/people.ts';
import type { PeopleStore, PlaceChange } from '../../../core/ports/people.ts';
import { Problem } from '../../../core/problem.ts';
import { changedMeanwhile } from '../http/portal-problems.ts';

/** The member that the path names. Throws 404, the same for an absent person and another account's. */
export async function readMember(
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

/** Throws the refusal of a change that was not made. */
export function checkChanged(outcome: PlaceChange): void {
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

/** 404. */
export function noSuchPerson(): Problem {
  return new Problem('ERR_NOT_FOUND', 'There is no person with this id in the account.');
}

/** 409. */
function lastOwner(): Problem {
  const message = 'The account must keep an owner. Make somebody else an owner first.';
  return new Problem('ERR_CONFLICT', message, { reason: 'last_owner' });
}

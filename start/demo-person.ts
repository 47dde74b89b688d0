/** The person of the demo account, with whom the first sign-in to the portal needs no preparation. */
import { createPeopleStore } from '../service/portal/people-store.ts';
import type { OperatorServices } from '../admin/services.ts';
import type { AccountId } from '../service/values/ids.ts';
import {
  invitationIdOf,
  invitationMillis,
  personIdOf,
  type Invitation,
  type PeopleScope,
} from '../service/portal/people.ts';

/** The owner of the demo account, and a person of the operator. */
export const demoEmail = 'owner@demo.test';

/**
 * Invites the demo person to the account and to the operator, unless the person is there already.
 */
export async function inviteDemoPerson(
  account: AccountId,
  issuer: string,
  { table, clock }: OperatorServices,
): Promise<void> {
  const people = createPeopleStore(table);
  const person = personIdOf(issuer, demoEmail);
  const [members, operators] = await Promise.all([people.listMembers(account), people.listOperators()]);
  const nowMillis = clock.now();
  const invitation = (accountId: PeopleScope, role: Invitation['role']): Invitation => ({
    id: invitationIdOf(demoEmail),
    accountId,
    email: demoEmail,
    role,
    invitedAt: new Date(nowMillis).toISOString(),
    invitedBy: 'operator',
    expiresAt: nowMillis + invitationMillis,
  });
  const isIn = (known: readonly { readonly personId: string }[]): boolean =>
    known.some(({ personId }) => personId === person);
  await Promise.all([
    ...(isIn(members) ? [] : [people.invite(invitation(account, 'owner'))]),
    ...(isIn(operators) ? [] : [people.invite(invitation('SERVICE', 'operator'))]),
  ]);
}

/** The addresses of all members, people of the operator and open invitations, each once. The demo person is first. */
export async function knownAddresses({ table, accounts }: OperatorServices): Promise<readonly string[]> {
  const people = createPeopleStore(table);
  const scopes = (await accounts.list()).map(({ id }) => id);
  const found = await Promise.all([
    people.listOperators(),
    people.listInvitations('SERVICE'),
    ...scopes.flatMap((id) => [people.listMembers(id), people.listInvitations(id)]),
  ]);
  const addresses = found.flatMap((list) => list.map(({ email }) => email));
  return [...new Set([demoEmail, ...addresses.sort()])];
}

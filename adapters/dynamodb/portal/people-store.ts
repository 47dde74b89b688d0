/** People and invitations. An invitation is stored twice: for its account, and for the sign-in that looks for it. */
import type { AccountId } from '../../../core/ids.ts';
import type { Identity, PeopleStore, VerifiedIdentity } from '../../../core/ports/people.ts';
import { poolEmailsADay } from '../../../core/portal/invitation-room.ts';
import type { Invitation, PeopleScope, Person } from '../../../core/portal/people.ts';
import { updateIf, type UpdateParts } from '../conditional.ts';
import { inviteIfRoom } from './invite-if-room.ts';
import { changeMember, removeMember, removeOperator } from './people-changes.ts';
import { invitationFromItem, memberFromItem, operatorFromItem, personFromItem } from './people-mapping.ts';
import { inOneStep, refusedAt, toDelete, toPut, toUpdate, type Step } from './people-transaction.ts';
import { partitionOf, portalKeys } from './portal-keys.ts';
import { queryAll, queryPages } from '../query.ts';
import { getItem } from '../send.ts';
import { ttlAttribute, type Item, type ItemKey, type Table } from '../table.ts';

export function createPeopleStore(table: Table): PeopleStore {
  const inScope = (scope: PeopleScope, beginning: string): Promise<Item[]> =>
    queryAll(table, partitionOf(scope), beginning);
  return {
    findPerson: async (id) => {
      const item = await getItem(table, portalKeys.person(id));
      return item && personFromItem(item);
    },
    listMembers: async (account) => (await inScope(account, 'MEMBER#')).map(memberFromItem).sort(bySince),
    listOperators: async () => (await inScope('SERVICE', 'MEMBER#')).map(operatorFromItem).sort(bySince),
    listInvitations: async (scope) =>
      (await inScope(scope, 'INVITATION#')).map(invitationFromItem).sort(byInvitation),
    invitationsTo: (id) => invitationsTo(table, id),
    invite: (invitation, emailsADay = poolEmailsADay) =>
      inviteIfRoom(table, invitation, bothPlaces(invitation).map(toPut(invitationToItem(invitation))), {
        emailsADay,
        list: async () => (await inScope(invitation.accountId, 'INVITATION#')).map(invitationFromItem),
      }),
    withdraw: async (scope, id) => {
      const steps = bothPlaces({ accountId: scope, id }).map((key) => toDelete(key, 'attribute_exists(pk)'));
      return (await inOneStep(table, steps)) === 'done';
    },
    accept: (invitation, person, at) => accept(table, invitation, person, at),
    noteSignIn: (person, identity, at) => noteSignIn(table, person, identity, at),
    changeMember: (read, next) => changeMember(table, read, next),
    removeMember: (read) => removeMember(table, read),
    removeOperator: (id) => removeOperator(table, id),
    endSessions: (scope, id, nowMillis) =>
      updateIf(table, portalKeys.member(scope, id), {
        UpdateExpression: 'SET sessionsEndedAt = :now',
        ConditionExpression: 'attribute_exists(pk)',
        ExpressionAttributeValues: { ':now': nowMillis },
      }),
  };
}

function bySince(a: { readonly since: string }, b: { readonly since: string }): number {
  return a.since < b.since ? -1 : 1;
}

function byInvitation(a: Invitation, b: Invitation): number {
  return a.invitedAt < b.invitedAt ? -1 : 1;
}

async function invitationsTo(table: Table, id: string): Promise<Invitation[]> {
  const found: Invitation[] = [];
  const query = {
    KeyConditionExpression: 'pk = :pk',
    ExpressionAttributeValues: { ':pk': portalKeys.invited('SERVICE', id).pk },
  };
  for await (const { Items } of queryPages(table, query))
    found.push(...(Items ?? []).map(invitationFromItem));
  return found;
}

/** Where an invitation is stored. */
function bothPlaces({ accountId, id }: Pick<Invitation, 'accountId' | 'id'>): ItemKey[] {
  return [portalKeys.invitation(accountId, id), portalKeys.invited(accountId, id)];
}

/** An invitation that expired stays listed for another while, so that its account sees that it expired. */
const listedSeconds = 30 * 86_400;

function invitationToItem(invitation: Invitation): Item {
  return { ...invitation, [ttlAttribute]: Math.ceil(invitation.expiresAt / 1000) + listedSeconds };
}

async function accept(
  table: Table,
  invitation: Invitation,
  person: VerifiedIdentity,
  at: string,
): Promise<boolean> {
  const { accountId, role } = invitation;
  const isOpen = 'invitedAt = :invitedAt AND expiresAt > :now';
  const values = { ':invitedAt': invitation.invitedAt, ':now': Date.parse(at) };
  const taken = bothPlaces(invitation).map((key) => toDelete(key, isOpen, values));
  const steps: Step[] = [
    ...taken,
    toPut(
      placeOf(invitation, person, at),
      'attribute_not_exists(pk)',
    )(portalKeys.member(accountId, person.id)),
    toUpdate(portalKeys.person(person.id), personParts(person, accountId, at)),
    ...(role === 'owner' && accountId !== 'SERVICE' ? [oneMoreOwner(accountId)] : []),
  ];
  const outcome = await inOneStep(table, steps);
  if (outcome === 'done') return true;
  // A person who is here already only takes the invitation from the list.
  const isHereAlready = refusedAt(outcome, taken.length) && !refusedAt(outcome, 0);
  return isHereAlready && (await inOneStep(table, taken)) === 'done';
}

function placeOf({ accountId, role, keyCapMicros }: Invitation, person: VerifiedIdentity, at: string): Item {
  const place = { personId: person.id, email: person.email, since: at };
  return accountId === 'SERVICE' ? place : { ...place, accountId, role, keyCapMicros };
}

function oneMoreOwner(accountId: AccountId): Step {
  return toUpdate(portalKeys.people(accountId), {
    UpdateExpression: 'ADD owners :one',
    ExpressionAttributeValues: { ':one': 1 },
  });
}

function personParts(
  { id, issuer, subject, email }: VerifiedIdentity,
  scope: PeopleScope,
  at: string,
): UpdateParts {
  return {
    UpdateExpression: [
      'SET id = :id, issuer = :issuer, subject = :subject, email = :email',
      ', createdAt = if_not_exists(createdAt, :at), lastSignInAt = :at',
      scope === 'SERVICE' ? '' : ' ADD accounts :accounts',
    ].join(''),
    ExpressionAttributeValues: {
      ':id': id,
      ':issuer': issuer,
      ':subject': subject,
      ':email': email,
      ':at': at,
      ...(scope !== 'SERVICE' && { ':accounts': new Set([scope]) }),
    },
  };
}

async function noteSignIn(
  table: Table,
  { id, accounts, email }: Person,
  identity: Identity,
  at: string,
): Promise<void> {
  const places: readonly ItemKey[] = [
    portalKeys.person(id),
    ...[...accounts, 'SERVICE' as const].map((scope) => portalKeys.member(scope, id)),
  ];
  const note = {
    UpdateExpression: 'SET lastSignInAt = :at, email = :email',
    // A place that was taken away meanwhile does not come back.
    ConditionExpression: 'attribute_exists(pk)',
    ExpressionAttributeValues: { ':at': at, ':email': identity.email ?? email },
  };
  await Promise.all(places.map((key) => updateIf(table, key, note)));
}

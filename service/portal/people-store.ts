/**
 * People and invitations. An invitation is stored twice: for its account, and for the sign-in of the address.
 */
import { updateIf } from '../aws/dynamodb/conditional.ts';
import { queryAll, queryPages } from '../aws/dynamodb/query.ts';
import { getItem, type UpdateParts } from '../aws/dynamodb/send.ts';
import { type Item, type ItemKey, type Table, ttlAttribute } from '../aws/dynamodb/table.ts';
import type { AccountId, PersonId } from '../values/ids.ts';
import { type InvitationRoom, poolEmailsADay } from './invitation-room.ts';
import {
  inOneStep,
  inviteIfRoom,
  refusedAt,
  type Step,
  toDelete,
  toPut,
  toUpdate,
} from './invitation-store.ts';
import type { Invitation, Member, Operator, PeopleScope, Person } from './people.ts';
import { partitionOf } from '../operated/action-store.ts';
import { listOfEmail, portalKeys } from './portal-key-items.ts';

/**
 * Changes of members. The last owner of an account stays: the same transaction checks the count of owners.
 */
async function changeMember(
  table: Table,
  read: Member,
  { role, keyCapMicros }: Pick<Member, 'role' | 'keyCapMicros'>,
): Promise<MemberChange> {
  const { accountId, personId } = read;
  const same = asItWasRead(read);
  const owners = Number(role === 'owner') - Number(read.role === 'owner');
  const change = toUpdate(portalKeys.member(accountId, personId), {
    UpdateExpression: `SET #role = :next${keyCapMicros === undefined ? ' REMOVE keyCapMicros' : ', keyCapMicros = :nextCap'}`,
    ConditionExpression: same.condition,
    ExpressionAttributeNames: { '#role': 'role' },
    ExpressionAttributeValues: {
      ...same.values,
      ':next': role,
      ...(keyCapMicros !== undefined && { ':nextCap': keyCapMicros }),
    },
  });
  return ending(table, read, [change, ...(owners === 0 ? [] : [countOwners(accountId, owners)])]);
}

async function removeMember(table: Table, read: Member): Promise<MemberChange> {
  const { accountId, personId } = read;
  const same = asItWasRead(read);
  const removal: Step = (name) => ({
    Delete: {
      TableName: name,
      Key: portalKeys.member(accountId, personId),
      ConditionExpression: same.condition,
      ExpressionAttributeNames: { '#role': 'role' },
      ExpressionAttributeValues: same.values,
    },
  });
  const leave = toUpdate(portalKeys.person(personId), {
    UpdateExpression: 'DELETE accounts :accounts',
    ExpressionAttributeValues: { ':accounts': new Set([accountId]) },
  });
  return ending(table, read, [
    removal,
    ...(read.role === 'owner' ? [countOwners(accountId, -1)] : []),
    leave,
  ]);
}

async function removeOperator(table: Table, personId: PersonId): Promise<MemberChange> {
  const removal = toDelete(portalKeys.member('SERVICE', personId), 'attribute_exists(pk)');
  return (await inOneStep(table, [removal])) === 'done' ? 'changed' : 'gone';
}

function asItWasRead({ role, keyCapMicros }: Member): { condition: string; values: Item } {
  const hasSameCap =
    keyCapMicros === undefined ? 'attribute_not_exists(keyCapMicros)' : 'keyCapMicros = :cap';
  return {
    condition: `#role = :role AND ${hasSameCap}`,
    values: { ':role': role, ...(keyCapMicros !== undefined && { ':cap': keyCapMicros }) },
  };
}

/** @param by 1 or -1. The last owner cannot be taken away. */
function countOwners(accountId: AccountId, by: number): Step {
  return toUpdate(portalKeys.people(accountId), {
    UpdateExpression: 'ADD owners :by',
    ...(by < 0 && { ConditionExpression: 'owners > :one' }),
    ExpressionAttributeValues: { ':by': by, ...(by < 0 && { ':one': 1 }) },
  });
}

/** @param steps the change of the member is the first; when owners are counted, the count is the second */
async function ending(table: Table, read: Member, steps: readonly Step[]): Promise<MemberChange> {
  const outcome = await inOneStep(table, steps);
  if (outcome === 'done') return 'changed';
  if (!refusedAt(outcome, 0)) return 'last_owner';
  return (await getItem(table, portalKeys.member(read.accountId, read.personId))) ? 'conflict' : 'gone';
}

function withoutKeys(item: Item): Item {
  const { pk: _pk, sk: _sk, [ttlAttribute]: _ttl, listing: _listing, listed: _listed, ...rest } = item;
  return rest;
}

/** DynamoDB keeps no empty set: a person without accounts has no attribute. */
export function personFromItem(item: Item): Person {
  const { accounts, ...rest } = withoutKeys(item);
  const ids = accounts instanceof Set ? ([...accounts] as AccountId[]) : [];
  return { ...rest, accounts: ids.sort() } as unknown as Person;
}

export function memberFromItem(item: Item): Member {
  return withoutKeys(item) as unknown as Member;
}

export function operatorFromItem(item: Item): Operator {
  return withoutKeys(item) as unknown as Operator;
}

function invitationFromItem(item: Item): Invitation {
  return withoutKeys(item) as unknown as Invitation;
}

export function createPeopleStore(table: Table) {
  const inScope = (scope: PeopleScope, beginning: string): Promise<Item[]> =>
    queryAll(table, partitionOf(scope), beginning);
  return {
    findPerson: async (id: PersonId): Promise<Person | undefined> => {
      const item = await getItem(table, portalKeys.person(id));
      return item && personFromItem(item);
    },
    listMembers: async (account: AccountId): Promise<Member[]> =>
      (await inScope(account, 'MEMBER#')).map(memberFromItem).sort(bySince),
    listOperators: async (): Promise<Operator[]> =>
      (await inScope('SERVICE', 'MEMBER#')).map(operatorFromItem).sort(bySince),
    listInvitations: async (scope: PeopleScope): Promise<Invitation[]> =>
      (await inScope(scope, 'INVITATION#')).map(invitationFromItem).sort(byInvitation),
    invitationsTo: (id: string): Promise<Invitation[]> => invitationsTo(table, id),
    /**
     * Stores the invitation, if there is room for it, and counts it for its day. It replaces an earlier one
     * to the same address.
     * @param emailsADay of the sender that all accounts share. Absent: that of the user pool. Infinity: no
     *   e-mails are sent.
     */
    invite: (invitation: Invitation, emailsADay = poolEmailsADay): Promise<InvitationRoom> =>
      inviteIfRoom(table, invitation, bothKeys(invitation).map(toPut(invitationToItem(invitation))), {
        emailsADay,
        list: async () => (await inScope(invitation.accountId, 'INVITATION#')).map(invitationFromItem),
      }),
    /** False when there is no such invitation. */
    withdraw: async (scope: PeopleScope, id: string): Promise<boolean> => {
      const steps = bothKeys({ accountId: scope, id }).map((key) => toDelete(key, 'attribute_exists(pk)'));
      return (await inOneStep(table, steps)) === 'done';
    },
    /** Replaces the invitation by a membership, in one transaction. False when the invitation is gone. */
    accept: (invitation: Invitation, person: VerifiedIdentity, at: string): Promise<boolean> =>
      accept(table, invitation, person, at),
    noteSignIn: (person: Person, identity: Identity, at: string): Promise<void> =>
      noteSignIn(table, person, identity, at),
    changeMember: (read: Member, next: Pick<Member, 'role' | 'keyCapMicros'>): Promise<MemberChange> =>
      changeMember(table, read, next),
    removeMember: (read: Member): Promise<MemberChange> => removeMember(table, read),
    removeOperator: (id: PersonId): Promise<MemberChange> => removeOperator(table, id),
    /** Ends all sessions of the person that began by now. False when the person is not here. */
    endSessions: (scope: PeopleScope, id: PersonId, nowMillis: number): Promise<boolean> =>
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

function bothKeys({ accountId, id }: Pick<Invitation, 'accountId' | 'id'>): ItemKey[] {
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
  const taken = bothKeys(invitation).map((key) => toDelete(key, isOpen, values));
  const steps: Step[] = [
    ...taken,
    toPut(
      memberItem(invitation, person, at),
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

function memberItem(
  { accountId, role, keyCapMicros }: Invitation,
  person: VerifiedIdentity,
  at: string,
): Item {
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
      'SET id = :id, issuer = :issuer, subject = :subject, email = :email, listing = :list, listed = :id',
      ', createdAt = if_not_exists(createdAt, :at), lastSignInAt = :at',
      scope === 'SERVICE' ? '' : ' ADD accounts :accounts',
    ].join(''),
    ExpressionAttributeValues: {
      ':id': id,
      ':issuer': issuer,
      ':subject': subject,
      ':email': email,
      ':list': listOfEmail(email),
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
  const known = identity.email ?? email;
  const note = (sets: string, values: Item = {}): UpdateParts => ({
    UpdateExpression: `SET lastSignInAt = :at, email = :email${sets}`,
    // A membership that was removed meanwhile does not come back.
    ConditionExpression: 'attribute_exists(pk)',
    ExpressionAttributeValues: { ':at': at, ':email': known, ...values },
  });
  const memberKeys = [...accounts, 'SERVICE' as const].map((scope) => portalKeys.member(scope, id));
  const listed = note(', listing = :list, listed = id', { ':list': listOfEmail(known) });
  await Promise.all([
    updateIf(table, portalKeys.person(id), listed),
    ...memberKeys.map((key) => updateIf(table, key, note(''))),
  ]);
}

// People, their memberships in accounts, and invitations.

export interface Identity {
  readonly id: PersonId;
  readonly issuer: string;
  readonly subject: string;
  /** As normalEmail() gives it. Absent: the issuer names no verified address. */
  readonly email?: string;
}

export interface VerifiedIdentity extends Identity {
  readonly email: string;
}

/** "none": no e-mail was needed, or there is no pool. "refused": the pool took none now. */
export type InvitationEmail = 'sent' | 'none' | 'refused';

export type MemberChange = 'changed' | 'gone' | 'conflict' | 'last_owner';

/** Every function throws Overloaded when the table stayed busy. */
export type PeopleStore = ReturnType<typeof createPeopleStore>;

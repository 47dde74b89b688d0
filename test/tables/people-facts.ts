/** Facts about people: invitations bind once, and an account keeps an owner. */
import { expect } from 'vitest';
import {
  createPeopleStore,
  type PeopleStore,
  type VerifiedIdentity,
} from '../../service/portal/people-store.ts';
import {
  type Invitation,
  invitationIdOf,
  invitationMillis,
  type Member,
  personIdOf,
} from '../../service/portal/people.ts';
import { portalKeys } from '../../service/portal/portal-key-items.ts';
import { createPortalAccess } from '../../service/portal/session-store.ts';
import { asMicros } from '../../service/values/money.ts';
import { accountId, now } from '../fixtures/records.ts';
import type { Facts } from './facts.ts';

const at = new Date(now).toISOString();

function identity(email: string, subject = email): VerifiedIdentity {
  const issuer = 'https://issuer.test';
  return { id: personIdOf(issuer, subject), issuer, subject, email };
}

function anInvitation(email: string, change: Partial<Invitation> = {}): Invitation {
  return {
    id: invitationIdOf(email),
    accountId,
    email,
    role: 'owner',
    invitedAt: at,
    invitedBy: 'operator',
    expiresAt: now + invitationMillis,
    ...change,
  };
}

/** Makes these people members of the account, each with this role. */
async function members(
  people: PeopleStore,
  emails: readonly string[],
  role: Member['role'] = 'owner',
): Promise<readonly Member[]> {
  for (const email of emails) {
    const invitation = anInvitation(email, { role });
    await people.invite(invitation);
    expect(await people.accept(invitation, identity(email), at)).toBe(true);
  }
  const listed = await people.listMembers(accountId);
  return emails.map((email) => {
    const found = listed.find((member) => member.email === email);
    if (!found) throw new Error(`${email} is no member`);
    return found;
  });
}

export const peopleFacts: Facts = {
  'An invitation binds the first of two people with its address, and nobody after': async ({ table }) => {
    const people = createPeopleStore(table);
    const invitation = anInvitation('owner@acme.test', {
      role: 'developer',
      keyCapMicros: asMicros(5_000_000),
    });
    await people.invite(invitation);
    expect(await people.invitationsTo(invitation.id)).toEqual([invitation]);
    const both = [identity('owner@acme.test', 'first'), identity('owner@acme.test', 'second')];
    const bound = await Promise.all(both.map((person) => people.accept(invitation, person, at)));
    expect(bound.filter((isBound) => isBound)).toHaveLength(1);
    const winner = both[bound.indexOf(true)];
    expect(await people.listMembers(accountId)).toEqual([
      {
        accountId,
        personId: winner?.id,
        email: 'owner@acme.test',
        role: 'developer',
        keyCapMicros: 5_000_000,
        since: at,
      },
    ]);
    expect(await people.listInvitations(accountId)).toEqual([]);
    expect(await people.invitationsTo(invitation.id)).toEqual([]);
    expect(
      (await people.findPerson(both[1 - bound.indexOf(true)]?.id ?? personIdOf('', '')))?.id,
    ).toBeUndefined();
  },

  'An invitation that expired or was replaced or withdrawn binds nobody': async ({ table }) => {
    const people = createPeopleStore(table);
    const expired = anInvitation('a@acme.test', { expiresAt: now });
    const first = anInvitation('b@acme.test', { invitedAt: '2026-11-20T00:00:00.000Z' });
    const second = anInvitation('b@acme.test', { role: 'viewer' });
    const withdrawn = anInvitation('c@acme.test');
    for (const invitation of [expired, first, second, withdrawn]) await people.invite(invitation);
    expect(await people.withdraw(accountId, withdrawn.id)).toBe(true);
    expect(await people.withdraw(accountId, withdrawn.id)).toBe(false);
    for (const invitation of [expired, first, withdrawn])
      expect(await people.accept(invitation, identity(invitation.email), at)).toBe(false);
    expect(await people.listMembers(accountId)).toEqual([]);
    expect(await people.accept(second, identity('b@acme.test'), at)).toBe(true);
  },

  'A second invitation of a member changes nothing and leaves the list': async ({ table }) => {
    const people = createPeopleStore(table);
    const [owner] = await members(people, ['owner@acme.test']);
    const again = anInvitation('owner@acme.test', { role: 'viewer' });
    await people.invite(again);
    expect(await people.accept(again, identity('owner@acme.test'), at)).toBe(true);
    expect(await people.listMembers(accountId)).toEqual([owner]);
    expect(await people.listInvitations(accountId)).toEqual([]);
  },

  'Two owners who demote each other at once leave one owner': async ({ table }) => {
    const people = createPeopleStore(table);
    const both = await members(people, ['a@acme.test', 'b@acme.test']);
    const outcomes = await Promise.all(both.map((member) => people.changeMember(member, { role: 'viewer' })));
    expect(outcomes.sort()).toEqual(['changed', 'last_owner']);
    expect((await people.listMembers(accountId)).map(({ role }) => role).sort()).toEqual(['owner', 'viewer']);
  },

  'The last owner is neither removed nor demoted, and a new owner frees the old one': async ({ table }) => {
    const people = createPeopleStore(table);
    const [owner] = await members(people, ['a@acme.test']);
    const [developer] = await members(people, ['b@acme.test'], 'developer');
    if (!owner || !developer) throw new Error('the members are gone');
    expect(await people.removeMember(owner)).toBe('last_owner');
    expect(await people.changeMember(owner, { role: 'developer' })).toBe('last_owner');
    expect(await people.changeMember(developer, { role: 'owner' })).toBe('changed');
    expect(await people.removeMember(owner)).toBe('changed');
    expect(await people.removeMember(owner)).toBe('gone');
    expect(await people.findPerson(owner.personId)).toMatchObject({ accounts: [] });
    expect(await people.removeMember({ ...developer, role: 'owner' })).toBe('last_owner');
  },

  'A change of a member that somebody else changed meanwhile is a conflict': async ({ table }) => {
    const people = createPeopleStore(table);
    await members(people, ['owner@acme.test']);
    const [read] = await members(people, ['b@acme.test'], 'developer');
    if (!read) throw new Error('the member is gone');
    const keyCapMicros = asMicros(1_000_000);
    expect(await people.changeMember(read, { role: 'developer', keyCapMicros })).toBe('changed');
    expect(await people.changeMember(read, { role: 'viewer' })).toBe('conflict');
    expect(await people.removeMember(read)).toBe('conflict');
    expect(await people.changeMember({ ...read, keyCapMicros }, { role: 'viewer' })).toBe('changed');
    expect(
      (await people.listMembers(accountId)).find(({ email }) => email === read.email),
    ).not.toHaveProperty('keyCapMicros');
  },

  'An operator is invited beside accounts, and is removed at any time': async ({ table }) => {
    const people = createPeopleStore(table);
    const invitation = anInvitation('op@host.test', { accountId: 'SERVICE', role: 'operator' });
    await people.invite(invitation);
    const operator = identity('op@host.test');
    expect(await people.accept(invitation, operator, at)).toBe(true);
    const access = createPortalAccess(table);
    expect(await access.membersOf(operator.id, [accountId])).toEqual({
      members: [],
      operator: { personId: operator.id, email: 'op@host.test', since: at },
    });
    expect(await people.findPerson(operator.id)).toMatchObject({ accounts: [] });
    expect(await people.removeOperator(operator.id)).toBe('changed');
    expect(await people.removeOperator(operator.id)).toBe('gone');
    expect(await people.listOperators()).toEqual([]);
  },

  'A session is used to the minute, and its end stays': async ({ table, item }) => {
    const access = createPortalAccess(table);
    const personId = identity('a@acme.test').id;
    const session = { hash: 'h', personId, accountId, authenticatedAt: now, createdAt: now, lastSeenAt: now };
    await access.open(session);
    const minute = now - (now % 60_000);
    await access.touch('h', now);
    expect(await item(portalKeys.session('h'))).toMatchObject({ lastSeenAt: now });
    await access.touch('h', now + 60_000);
    expect(await item(portalKeys.session('h'))).toMatchObject({ lastSeenAt: minute + 60_000 });
    await access.end('h', now + 61_000);
    await access.end('h', now + 62_000);
    await access.touch('h', now + 120_000);
    const question = {
      clientAddress: '203.0.113.9',
      nowMillis: now,
      session: { hash: 'h', personId, accountId },
    };
    const ended = { ...session, lastSeenAt: minute + 60_000, endedAt: now + 61_000 };
    const read = await access.read(question);
    expect(read.session).toEqual(ended);
    expect(read.account?.id).toBe(accountId);
    await access.end('nobody', now);
    expect(await item(portalKeys.session('nobody'))).toBeUndefined();
  },
};

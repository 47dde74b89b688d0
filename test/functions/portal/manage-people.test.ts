/** People in the portal: invitations, roles and limits, also by two owners at once. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { AccountId } from '../../../core/ids.ts';
import { invitationIdOf } from '../../../core/portal/people.ts';
import { memberVersion } from '../../../core/portal/version.ts';
import { inBetween } from './broken-calls.ts';
import { fieldsOf, openWholePortal, type Answered, type SignedIn, type WholePortal } from './whole-portal.ts';

let portal: WholePortal;
let account: AccountId;
let owner: SignedIn;

beforeEach(async () => {
  portal = openWholePortal();
  account = await portal.openAccount('Acc0unt001');
  owner = await portal.signIn('owner@studio.test', account, 'owner');
});

const version = { viewer: memberVersion({ role: 'viewer' }), owner: memberVersion({ role: 'owner' }) };
const change = (who: SignedIn, body: object, as = owner): Promise<Answered> =>
  portal.ask('changePerson', { as, id: who.personId, body });

describe('an invitation', () => {
  const invite = (body: object): Promise<Answered> => portal.ask('invitePerson', { as: owner, body });

  it('The invitation stands under the address in lower case until somebody withdraws it', async () => {
    const { status, body } = await invite({ email: ' New@Person.test ', role: 'developer', key_cap: 5 });
    expect(status).toBe(201);
    expect(body.id).toBe(invitationIdOf('new@person.test'));
    const [stored] = await portal.people.listInvitations(account);
    expect(stored).toMatchObject({
      email: 'new@person.test',
      keyCapMicros: 5_000_000,
      invitedBy: owner.email,
    });
    const withdraw = (): Promise<Answered> => portal.ask('withdrawInvitation', { as: owner, id: body.id });
    expect([(await withdraw()).status, (await withdraw()).status]).toEqual([200, 404]);
    expect(await portal.people.listInvitations(account)).toEqual([]);
  });

  it('Every wrong field is named, and a member is not invited again', async () => {
    expect(fieldsOf(await invite({ email: 'nobody', role: 'king', key_cap: -1, more: 1 }))).toEqual([
      'email',
      'key_cap',
      'more',
      'role',
    ]);
    expect(fieldsOf(await invite({ email: 'a@b.test', role: 'owner', key_cap: 1 }))).toEqual(['key_cap']);
    expect(fieldsOf(await invite({ email: owner.email, role: 'viewer' }))).toEqual(['email']);
  });
});

describe('a person of an account', () => {
  it('A new role holds at the next request, and a limit is only for developers', async () => {
    const person = await portal.signIn('p@studio.test', account, 'viewer');
    expect((await portal.ask('createKey', { as: person, body: { name: 'a' } })).status).toBe(403);
    const changed = await change(person, { role: 'developer', key_cap: 1, version: version.viewer });
    expect(changed.body).toMatchObject({ role: 'developer', key_cap: 1 });
    const key = { name: 'a', monthly_cap: 1 };
    expect((await portal.ask('createKey', { as: person, body: key })).status).toBe(201);
    expect((await change(person, { role: 'owner', version: version.viewer })).status).toBe(409);
    const up = await change(person, { role: 'owner', version: changed.body.version });
    expect(up.body).toMatchObject({ role: 'owner', key_cap: null });
    expect(fieldsOf(await change(person, { key_cap: 1, version: up.body.version }))).toEqual(['key_cap']);
    expect(fieldsOf(await change(person, { role: 1 }))).toEqual(['role', 'version']);
  });

  it('The last owner can neither be demoted nor removed', async () => {
    const demoted = await change(owner, { role: 'viewer', version: version.owner });
    const removed = await portal.ask('removePerson', { as: owner, id: owner.personId });
    for (const answer of [demoted, removed])
      expect([answer.status, answer.body.error.details.reason]).toEqual([409, 'last_owner']);
  });

  it('Of two owners who demote each other at once one stays', async () => {
    const second = await portal.signIn('second@studio.test', account, 'owner');
    const body = { role: 'viewer', version: version.owner };
    const [late, first] = await inBetween(
      portal,
      'MEMBER#',
      () => change(second, body),
      () => change(owner, body, second),
    );
    expect([late.status, first.status]).toEqual([409, 200]);
    const owners = (await portal.people.listMembers(account)).filter(({ role }) => role === 'owner');
    expect(owners.map(({ email }) => email)).toEqual([second.email]);
  });

  it('Removal and the end of sessions hold at the next request', async () => {
    const person = await portal.signIn('p@studio.test', account, 'viewer');
    const home = (): Promise<Answered> => portal.ask('getHome', { as: person });
    expect((await home()).status).toBe(200);
    const on = { as: owner, id: person.personId };
    expect((await portal.ask('endSessions', on)).status).toBe(200);
    expect((await home()).status).toBe(401);
    const again = await portal.signIn('q@studio.test', account, 'viewer');
    expect((await portal.ask('removePerson', { as: owner, id: again.personId })).status).toBe(200);
    expect((await portal.ask('getHome', { as: again })).status).toBe(403);
    expect((await portal.ask('removePerson', { as: owner, id: again.personId })).status).toBe(404);
  });
});

/** People in the portal: invitations, roles and limits, also by two owners at once. */
import { beforeEach, describe, expect, it } from 'vitest';
import { invitationIdOf, type Invitation, memberVersion } from '../../service/portal/people.ts';
import type { AccountId } from '../../service/values/ids.ts';
import { inBetween } from './portal-fixture.ts';
import { type Answered, fieldsOf, openWholePortal, type SignedIn, type WholePortal } from './whole-portal.ts';
import { poolEmailsADay, roomForInvitation } from '../../service/portal/invitation-room.ts';
import { accountId, now } from '../fixtures/records.ts';

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

describe('the invitations of an account', () => {
  const invite = (number: number, as = owner): Promise<Answered> =>
    portal.ask('invitePerson', { as, body: { email: `person-${number}@acme.test`, role: 'viewer' } });
  /** All of them, eight at once. */
  const inviteMany = async (count: number): Promise<Answered[]> => {
    const answers: Answered[] = [];
    while (answers.length < count) {
      const from = answers.length;
      const some = Array.from({ length: Math.min(8, count - from) }, (_, index) => invite(from + index));
      answers.push(...(await Promise.all(some)));
    }
    return answers;
  };
  const quotaOf = (reason: string) => ({
    code: 'ERR_QUOTA_EXCEEDED',
    details: { scope: 'account', reason, limit: 20, current: 20 },
  });
  const nextDay = async (after: Answered): Promise<void> => {
    const midnight = portal.clock.now() + Number(after.headers['retry-after']) * 1_000;
    expect(new Date(midnight).toISOString()).toMatch(/T00:00:00/);
    portal.clock.set(midnight + 60_000);
    owner = await portal.signIn('late@studio.test', account, 'owner');
  };

  // The owner was invited today as well, and is the first of the twenty.
  it('Of forty invitations, eight at once, the account sends as many as it may on a day, and the others leave nothing behind', async () => {
    const written: string[] = [];
    portal.pool.register = (email) => Promise.resolve(void written.push(email)).then(() => 'sent');
    const answers = await inviteMany(40);
    const refused = answers.filter(({ status }) => status === 429);
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(19);
    expect(refused).toHaveLength(21);
    for (const { body, headers } of refused) {
      expect(body.error).toMatchObject(quotaOf('invitations_sent'));
      expect(body.error.message).toContain('after midnight UTC');
      expect(headers['retry-after']).toMatch(/^[1-9]\d*$/);
    }
    expect(await portal.people.listInvitations(account)).toHaveLength(19);
    expect(written).toHaveLength(19);
  });

  it('The next day has twenty more, as long as at most twenty are open', async () => {
    const answers = await inviteMany(20);
    const last = answers.find(({ status }) => status === 429);
    if (last) await nextDay(last);
    const open = [await invite(20), await invite(21)];
    expect(open.map(({ status }) => status)).toEqual([201, 429]);
    expect(open[1]?.body.error).toMatchObject(quotaOf('open_invitations'));
    expect(open[1]?.headers['retry-after']).toBe('60');
    await portal.ask('withdrawInvitation', { as: owner, id: answers[0]?.body.id ?? '' });
    expect((await invite(21)).status).toBe(201);
    expect((await invite(20)).status).toBe(201);
  });

  it('One account leaves the next one a share of the e-mails of the day, also when the operator invites', async () => {
    await inviteMany(20);
    const second = await portal.openAccount('Acc0unt002');
    const neighbour = await portal.signIn('owner@second.test', second, 'owner');
    const statuses: number[] = [];
    for (let one = 0; one < 20; one += 1) statuses.push((await invite(one, neighbour)).status);
    // Half of the thirty that are left. The owner of the account is one of them.
    expect(statuses.filter((status) => status === 201)).toHaveLength(14);
    const operator = await portal.signIn('operator@service.test', undefined, 'operator');
    const body = { email: 'more@acme.test', role: 'viewer' };
    const asked = await portal.ask('inviteToAccount', { as: operator, id: second, body });
    expect([asked.status, asked.body.error.details.reason]).toEqual([429, 'invitations_sent']);
  });

  it('An e-mail that the user pool refuses leaves the invitation with its address, and the answer says so', async () => {
    portal.pool.register = () =>
      Promise.reject(new Error('the user pool answered 400 LimitExceededException'));
    const { status, body } = await invite(1);
    expect([status, body]).toMatchObject([201, { mail: 'refused', sign_in_at: 'https://portal.test/' }]);
    expect(await portal.people.listInvitations(account)).toHaveLength(1);
    expect(portal.log.text()).toContain('LimitExceededException');
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
});

const invitations = (count: number, expiresAt = now + 1): Invitation[] =>
  Array.from({ length: count }, (_, index) => ({
    id: `invitation-${index}`,
    accountId,
    email: `person-${index}@acme.test`,
    role: 'viewer',
    invitedAt: new Date(now).toISOString(),
    invitedBy: 'operator',
    expiresAt,
  }));

const room = (
  listed: readonly Invitation[],
  sent = { byAccount: 0, inAll: 0 },
  emailsADay = poolEmailsADay,
  id = 'new',
) => roomForInvitation({ id }, listed, sent, { emailsADay, nowMillis: now });

describe('the open invitations of an account', () => {
  it('Twenty may be open, and a repetition for the same address is not one more', () => {
    expect(room(invitations(19)).kind).toBe('room');
    expect(room(invitations(20))).toEqual({ kind: 'too_many_open', limit: 20, current: 20 });
    expect(room(invitations(20), undefined, undefined, 'invitation-7').kind).toBe('room');
  });

  it('An invitation that has ended is not open', () => {
    expect(room([...invitations(19), ...invitations(30, now)]).kind).toBe('room');
  });
});

describe('the invitations of a day', () => {
  it('An account sends at most twenty, also where nobody sends e-mails', () => {
    for (const emailsADay of [poolEmailsADay, Infinity]) {
      expect(room([], { byAccount: 19, inAll: 19 }, emailsADay).kind).toBe('room');
      expect(room([], { byAccount: 20, inAll: 20 }, emailsADay)).toEqual({
        kind: 'too_many_sent',
        limit: 20,
        current: 20,
      });
    }
  });

  it('Accounts that send all they may, one after the other, leave each next account a share and never pass the sender', () => {
    const shares: number[] = [];
    let inAll = 0;
    for (let account = 0; account < 8; account += 1) {
      let byAccount = 0;
      while (room([], { byAccount, inAll }).kind === 'room') {
        byAccount += 1;
        inAll += 1;
      }
      shares.push(byAccount);
    }
    expect(shares).toEqual([20, 15, 8, 4, 2, 1, 0, 0]);
    expect(inAll).toBeLessThanOrEqual(poolEmailsADay);
  });

  it('Where nobody sends e-mails, other accounts take nothing away', () => {
    expect(room([], { byAccount: 0, inAll: 1_000 }, Infinity).kind).toBe('room');
  });
});

/** Notices by e-mail: everybody chooses for themselves, and only for the own verified address. */
import { describe, expect, it } from 'vitest';
import { TopicRefused } from '../../service/aws/topic-calls.ts';
import { mostReaders, topicOf } from '../../service/notices/mail-readers.ts';
import type { PersonId } from '../../service/values/ids.ts';
import { loseAnswerOf } from './portal-fixture.ts';
import { type Answered, openWholePortal } from './whole-portal.ts';

const chosenOf = ({ body }: Answered): string[] =>
  body.choices.flatMap((one) => (one.is_chosen ? [one.notice] : []));

async function opened() {
  const portal = openWholePortal();
  const account = await portal.openAccount('Acc0unt001');
  const person = (email: string, role: 'owner' | 'viewer' | 'finance' = 'viewer') =>
    portal.signIn(email, account, role);
  const owner = await person('owner@studio.test', 'owner');
  const members = async () => (await portal.people.listMembers(account)).map(({ personId }) => personId);
  const topicAt = async (place: number) => topicOf(account, (await members())[place] as PersonId);
  return { portal, account, owner, person, topicAt, members };
}

describe('The e-mails of a person', () => {
  it('go to the verified address once it is confirmed, and end with an empty choice', async () => {
    const { portal, account, owner, topicAt } = await opened();
    const set = (notices: readonly string[]) => portal.ask('setEmails', { as: owner, body: { notices } });
    const none = await portal.ask('getEmails', { as: owner });
    expect([none.body.state, chosenOf(none)]).toEqual(['off', []]);
    const waiting = await set(['budget.reached', 'wallet.low']);
    expect([waiting.status, waiting.body.state, chosenOf(waiting)]).toEqual([
      200,
      'waiting',
      ['wallet.low', 'budget.reached'],
    ]);
    expect(waiting.body.words).toContain('owner@studio.test');
    expect((await portal.accounts.read(account))?.mailChoices).toBe(1);
    await set(['wallet.low']);
    expect(portal.mails.asked, 'SNS asks again until the address is confirmed').toHaveLength(2);
    portal.mails.confirm(await topicAt(0));
    const on = await set(['wallet.empty']);
    expect([on.body.state, chosenOf(on), portal.mails.asked.length]).toEqual(['on', ['wallet.empty'], 2]);
    const off = await set([]);
    expect([off.body.state, chosenOf(off), portal.mails.subscriptions.size]).toEqual(['off', [], 0]);
    expect((await portal.accounts.read(account))?.mailChoices).toBeUndefined();
  });

  it('are of the person alone, and the count of choices stays while another one has them', async () => {
    const { portal, account, owner, person } = await opened();
    const finance = await person('finance@studio.test', 'finance');
    const viewer = await person('viewer@studio.test');
    for (const as of [finance, owner])
      expect((await portal.ask('setEmails', { as, body: { notices: ['wallet.low'] } })).status).toBe(200);
    expect(chosenOf(await portal.ask('getEmails', { as: viewer }))).toEqual([]);
    await portal.ask('setEmails', { as: owner, body: { notices: [] } });
    expect(chosenOf(await portal.ask('getEmails', { as: finance }))).toEqual(['wallet.low']);
    expect((await portal.accounts.read(account))?.mailChoices).toBe(2);
    const wrong = await portal.ask('setEmails', { as: viewer, body: { notices: ['a'], email: 'b@c.test' } });
    expect(wrong.status).toBe(400);
  });

  it('end with the membership in the account, and their topic is deleted', async () => {
    const { portal, owner, person, members } = await opened();
    const viewer = await person('viewer@studio.test');
    await portal.ask('setEmails', { as: viewer, body: { notices: ['wallet.low'] } });
    expect(portal.mails.subscriptions.size).toBe(1);
    const [, id = ''] = await members();
    expect((await portal.ask('removePerson', { as: owner, id })).status).toBe(200);
    expect(portal.mails.subscriptions.size).toBe(0);
  });

  it.each(['before', 'after'])(
    'leave no topic when the person is removed while they choose, %s the choice is stored',
    async (when) => {
      const { portal, owner, person, members } = await opened();
      const viewer = await person('viewer@studio.test');
      const [, id = ''] = await members();
      const remove = async () =>
        expect((await portal.ask('removePerson', { as: owner, id })).status).toBe(200);
      const choose = () => portal.ask('setEmails', { as: viewer, body: { notices: ['wallet.low'] } });
      if (when === 'before') {
        const { subscribe } = portal.mails.topics;
        portal.mails.topics.subscribe = async (...of) => {
          await remove();
          await subscribe(...of);
        };
        expect((await choose()).status).toBe(404);
      } else {
        const { removeMember } = portal.people;
        portal.people.removeMember = async (...of) => {
          expect((await choose()).status).toBe(200);
          return removeMember(...of);
        };
        await remove();
      }
      expect(portal.mails.subscriptions.size).toBe(0);
    },
  );

  it('are chosen by at most ten people of an account', async () => {
    const { portal, person } = await opened();
    const choose = async (email: string) =>
      (await portal.ask('setEmails', { as: await person(email), body: { notices: ['wallet.low'] } })).status;
    for (let count = 0; count < mostReaders; count += 1)
      expect(await choose(`p${count}@studio.test`)).toBe(200);
    expect(await choose('late@studio.test')).toBe(409);
    expect(await choose('p3@studio.test')).toBe(200);
  });

  it.each([
    ['refuses', new TopicRefused('Throttled')],
    ['is out of reach', new TypeError('fetch failed')],
    ['is too late', new DOMException('too late', 'TimeoutError')],
  ])(
    'are refused with a sentence while SNS %s, and a lost answer of the table changes nothing',
    async (_how, error) => {
      const { portal, owner } = await opened();
      const set = (notices: readonly string[]) => portal.ask('setEmails', { as: owner, body: { notices } });
      portal.mails.failing.by = error;
      expect([(await set(['wallet.low'])).status, portal.mails.subscriptions.size]).toEqual([503, 0]);
      portal.mails.failing.by = undefined;
      loseAnswerOf(portal, 'ACCOUNT"');
      expect((await set(['wallet.low'])).status).toBe(200);
      portal.mails.failing.by = error;
      expect((await set([])).status).toBe(503);
      portal.mails.failing.by = undefined;
      // The choice ended with the first try, so nothing is published.
      expect(chosenOf(await portal.ask('getEmails', { as: owner }))).toEqual([]);
    },
  );
});

/** The webhook secret, tests, redeliveries and alerts in the portal. */
import { randomBytes } from 'node:crypto';
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, it } from 'vitest';
import { alertsVersion } from '../../service/accounts/version.ts';
import { creationToItem } from '../../service/creations/creation-items.ts';
import type { EndpointSchedules } from '../../service/creations/creation.ts';
import { type AccountId, type CreationId, uuidV7 } from '../../service/values/ids.ts';
import type { Delivery } from '../../service/webhooks/delivery.ts';
import { aCompletedCreation, now } from '../fixtures/records.ts';
import { conflictWith, inBetween, loseAnswerOf } from './portal-fixture.ts';
import { type Answered, fieldsOf, openWholePortal, type SignedIn, type WholePortal } from './whole-portal.ts';

const day = 86_400_000;
let portal: WholePortal;
let account: AccountId;
let owner: SignedIn;

beforeEach(async () => {
  portal = openWholePortal();
  account = await portal.openAccount('Acc0unt001');
  owner = await portal.signIn('owner@studio.test', account, 'owner');
});

const reveal = (): Promise<Answered> => portal.ask('revealSecret', { as: owner });
const rotate = (signFrom = 'now'): Promise<Answered> =>
  portal.ask('rotateSecret', { as: owner, body: { sign_from: signFrom } });

describe('the webhook secret', () => {
  it('The first read issues the secret, and every later read shows the same secret', async () => {
    const first = await reveal();
    expect(first.body.secret).toMatch(/^whsec_[\w+/=]{44}$/);
    expect((await reveal()).body).toEqual(first.body);
    expect(portal.log.text()).not.toContain(first.body.secret);
    expect(JSON.stringify([...portal.memory.all()])).not.toContain(first.body.secret);
  });

  it('Two people who read it at once for the first time see the same secret', async () => {
    const [late, first] = await inBetween(portal, 'ACCOUNT"', reveal, reveal);
    expect([late.status, first.status]).toEqual([200, 200]);
    expect(late.body.secret).toBe(first.body.secret);
  });

  it('Of two who rotate at once one is refused, and the secret of the other one stays', async () => {
    expect((await rotate()).body.error.details.reason).toBe('no_secret');
    await reveal();
    const [late, first] = await inBetween(portal, 'ACCOUNT"', rotate, rotate);
    expect([late.status, first.status]).toEqual([409, 200]);
    expect((await reveal()).body.secret).toBe(first.body.secret);
    expect((await portal.accounts.read(account))?.webhookSecrets).toHaveLength(2);
  });

  it('A rotation is made once, over conflicts and over a lost answer', async () => {
    await reveal();
    conflictWith(portal, 'ACCOUNT"', 2);
    expect((await rotate()).status).toBe(200);
    loseAnswerOf(portal, 'ACCOUNT"');
    const rotated = await rotate('24h');
    expect(rotated.status).toBe(200);
    expect(rotated.body).toMatchObject({ signs_from: new Date(portal.clock.now() + day).toISOString() });
    expect(rotated.body.signing_until_then).toMatch(/^whsec_/);
    expect((await portal.accounts.read(account))?.webhookSecrets).toHaveLength(3);
    expect(fieldsOf(await portal.ask('rotateSecret', { as: owner, body: { sign_from: '2h' } }))).toEqual([
      'sign_from',
    ]);
  });
});

describe('a test delivery', () => {
  const test = (url: string): Promise<Answered> => portal.ask('testWebhook', { as: owner, body: { url } });

  it('One signed attempt goes out in 30 seconds, and its row is in the log', async () => {
    expect((await test('https://a.test/')).body.error.details.reason).toBe('no_secret');
    await reveal();
    const sent = await test('https://receiver.test/hook');
    expect(sent.body.delivery).toMatchObject({
      is_test: true,
      host: 'receiver.test',
      outcome: 'delivered',
      status: 200,
    });
    expect(portal.posted).toHaveLength(1);
    expect(portal.posted[0]?.headers['x-webhook-signature-256']).toMatch(/^sha256=[0-9a-f]{64}$/);
    const soon = await test('https://receiver.test/hook');
    expect([soon.status, soon.headers['retry-after']]).toEqual([429, '30']);
    portal.clock.set(portal.clock.now() + 30_000);
    portal.receiver.answer = { kind: 'answered', status: 500, headers: {}, excerpt: 'broken' };
    expect((await test('https://receiver.test/hook')).body.delivery).toMatchObject({ outcome: 'failed' });
    const listed = await portal.ask('listDeliveries', { as: owner });
    expect(listed.body.data).toHaveLength(2);
  });

  it('A sample of any event goes to an endpoint of the account, and is no attempt of the endpoint', async () => {
    await reveal();
    const body = { url: 'https://receiver.test/hook', events: ['creation.completed'], enabled: false };
    const { id } = (await portal.ask('addEndpoint', { as: owner, body })).body;
    const ask = (asked: object): Promise<Answered> => portal.ask('testWebhook', { as: owner, body: asked });
    expect(fieldsOf(await ask({}))).toEqual(['url']);
    expect(fieldsOf(await ask({ endpoint: 'we_00000000000000' }))).toEqual(['endpoint']);
    expect(fieldsOf(await ask({ endpoint: id, url: body.url }))).toEqual(['url']);
    expect(fieldsOf(await ask({}))).toEqual(['url']);
    expect(fieldsOf(await ask({ endpoint: id, event: 'creation.begun' }))).toEqual(['event']);
    expect(portal.posted).toEqual([]);
    const { data, samples } = (await portal.ask('listPortalEndpoints', { as: owner })).body;
    portal.receiver.answer = { kind: 'answered', status: 500, headers: {}, excerpt: 'broken' };
    expect((await ask({ endpoint: id, event: 'wallet.low' })).body.delivery).toMatchObject({
      ...{ is_test: true, event: 'wallet.low', outcome: 'failed', url: body.url },
      request: { body: samples['wallet.low'] },
    });
    expect(portal.posted.map(({ url }) => url)).toEqual([body.url]);
    expect((await portal.ask('listPortalEndpoints', { as: owner })).body.data).toEqual(data);
    expect(data).toMatchObject([{ id, delivered: 0, failed: 0, last_failure: null }]);
  });

  it('An address that no webhook may have is refused before anything is sent', async () => {
    await reveal();
    for (const url of [
      'http://a.test/',
      'https://10.0.0.1/',
      'https://a.test:25/',
      'nothing',
      'https://inside.test/',
    ])
      expect(fieldsOf(await test(url))).toEqual(['url']);
    const message = 'must lead to public addresses only';
    const errors = [{ field: 'url', code: 'refused_target', message }];
    expect((await test('https://inside.test/')).body).toHaveProperty('error.details.errors', errors);
    expect(portal.posted).toEqual([]);
  });
});

/** Stores a creation whose webhook is settled, with its attempts in the log. */
async function withWebhook(
  status: 'failed' | 'delivered' | 'pending',
  attempts: readonly Partial<Delivery>[],
  endpoints?: EndpointSchedules,
): Promise<CreationId> {
  const id = uuidV7(now, randomBytes(16)) as CreationId;
  const webhook = {
    ...{ url: endpoints ? '' : 'https://a.test/', status, attempts: attempts.length, nextAt: now },
    ...(endpoints && { endpoints }),
  };
  const creation = aCompletedCreation({ id, accountId: account, webhook });
  const item = creationToItem(creation);
  await portal.table.client.send(new PutCommand({ TableName: portal.table.name, Item: item }));
  for (const [index, change] of attempts.entries()) {
    const at = Date.parse(change.startedAt ?? new Date(now).toISOString());
    await portal.deliveries.record({
      id: uuidV7(at, randomBytes(16)),
      accountId: account,
      creationId: id,
      event: 'creation.completed',
      url: 'https://a.test/',
      attempt: index + 1,
      startedAt: new Date(at).toISOString(),
      outcome: 'failed',
      ...(index + 1 < attempts.length && { nextAttemptAt: new Date(at + 60_000).toISOString() }),
      ...change,
    });
  }
  return id;
}

describe('redeliveries', () => {
  const all = (since: string): Promise<Answered> =>
    portal.ask('redeliverFailed', { as: owner, body: { since } });
  const five = Array.from({ length: 5 }, () => ({}));

  it('All webhooks that failed for good since the moment are sent again, each creation once', async () => {
    const failed = [await withWebhook('failed', five), await withWebhook('failed', five)];
    const lost = await withWebhook('failed', [{}, {}, {}, {}, { outcome: 'unknown' }]);
    await withWebhook('delivered', [{}, { outcome: 'delivered' }]);
    await withWebhook('pending', [{}, {}]);
    await withWebhook('failed', [{ startedAt: new Date(now - day).toISOString() }]);
    const { status, body } = await all(new Date(now - 60_000).toISOString());
    expect([status, body]).toEqual([202, { redelivered: 3, has_more: false }]);
    expect([...portal.started].sort()).toEqual([...failed, lost].sort());
    expect((await all(new Date(now - 60_000).toISOString())).body.redelivered).toBe(0);
    expect((await all('2026-01-01T00:00:00Z')).body.redelivered).toBe(1);
    expect(fieldsOf(await all('yesterday'))).toEqual(['since']);
  });

  it('All webhooks that failed at one endpoint are sent again, and to this endpoint alone', async () => {
    const add = async (url: string): Promise<string> => {
      const body = { url, events: ['creation.completed'] };
      return (await portal.ask('addEndpoint', { as: owner, body })).body.id;
    };
    const [one, other] = [await add('https://one.test/'), await add('https://other.test/')];
    const schedule = (status: 'failed' | 'delivered') => ({ status, attempts: 5, nextAt: 0 });
    const at = (endpointId: string): Partial<Delivery> => ({ endpointId });
    const both = await withWebhook('failed', [at(other), at(one)], {
      [one]: schedule('failed'),
      [other]: schedule('failed'),
    });
    await withWebhook('failed', [at(other)], { [one]: schedule('delivered'), [other]: schedule('failed') });
    await withWebhook('failed', five);
    const since = new Date(now - 60_000).toISOString();
    const ask = (endpoint: string): Promise<Answered> =>
      portal.ask('redeliverFailed', { as: owner, body: { since, endpoint } });
    expect(fieldsOf(await ask('we_00000000000000'))).toEqual(['endpoint']);
    expect((await ask(one)).body).toEqual({ redelivered: 1, has_more: false });
    expect(portal.started).toEqual([both]);
    expect((await portal.creations.read(both))?.webhook?.endpoints).toMatchObject({
      [one]: { status: 'pending', attempts: 0 },
      [other]: { status: 'failed', attempts: 5 },
    });
    expect((await ask(one)).body.redelivered).toBe(0);
  });

  it('A request sends at most a hundred or so and says that there are more', async () => {
    for (let count = 0; count < 105; count += 1) await withWebhook('failed', [{}]);
    const first = await all('2026-11-01T00:00:00Z');
    expect(first.body.has_more).toBe(true);
    const second = await all('2026-11-01T00:00:00Z');
    expect(second.body.has_more).toBe(false);
    expect(first.body.redelivered + second.body.redelivered).toBe(105);
    expect(new Set(portal.started).size).toBe(105);
  });

  it('A creation is sent again once, over a lost answer and while it waits', async () => {
    const id = await withWebhook('failed', [{}]);
    const again = (): Promise<Answered> => portal.ask('redeliverCreation', { as: owner, id });
    loseAnswerOf(portal, 'CREATION"');
    expect((await again()).status).toBe(202);
    expect((await again()).body.error.details.reason).toBe('still_pending');
    expect(portal.started).toEqual([id]);
    expect((await portal.creations.read(id))?.executions).toBe(2);
  });
});

describe('alerts', () => {
  const set = (body: object): Promise<Answered> => portal.ask('setAlerts', { as: owner, body });

  it('Of two who set the alerts at once one is refused', async () => {
    const version = alertsVersion({});
    const [late, first] = await inBetween(
      portal,
      'ACCOUNT"',
      () => set({ notice_url: null, low_balance: 5, version }),
      () => set({ notice_url: 'https://a.test/', low_balance: null, version }),
    );
    expect([late.status, first.status]).toEqual([409, 200]);
    expect((await portal.ask('getAlerts', { as: owner })).body).toEqual(first.body);
    loseAnswerOf(portal, 'ACCOUNT"');
    const next = await set({ notice_url: null, low_balance: 1.5, version: first.body.version });
    expect([next.status, next.body.low_balance]).toEqual([200, 1.5]);
    expect((await portal.ask('getAlerts', { as: owner })).body).toEqual(next.body);
  });

  it('What the body leaves out stays as it is', async () => {
    const both = { notice_url: 'https://a.test/', low_balance: 5 };
    const { body } = await set({ ...both, version: alertsVersion({}) });
    const moved = await set({ low_balance: 7, version: body.version });
    expect(moved.body).toMatchObject({ ...both, low_balance: 7 });
    const removed = await set({ notice_url: null, version: moved.body.version });
    expect(removed.body).toMatchObject({ notice_url: null, low_balance: 7 });
  });

  it('Every wrong field of the body is named', async () => {
    expect(fieldsOf(await set({ notice_url: 5, low_balance: 0, other: 1 }))).toEqual([
      'low_balance',
      'notice_url',
      'other',
      'version',
    ]);
    const version = alertsVersion({});
    for (const url of ['http://a.test/', 'https://inside.test/'])
      expect(fieldsOf(await set({ notice_url: url, low_balance: null, version }))).toEqual(['notice_url']);
  });

  it('An account below the new threshold is notified at once', async () => {
    const version = alertsVersion({});
    await set({ notice_url: 'https://a.test/', low_balance: 100, version });
    expect((await portal.accounts.read(account))?.toldLow).toBeDefined();
  });
});

/** Keys in the portal: made, changed, rolled and revoked, also by two people at once and over lost answers. */
import { randomBytes } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { parseKey } from '../../service/accounts/api-key.ts';
import { playgroundKeyId } from '../../service/accounts/key-changes.ts';
import { newUserToken } from '../../service/accounts/user-token.ts';
import { createUserTokens } from '../../service/accounts/user-token-store.ts';
import type { AccountId, KeyId } from '../../service/values/ids.ts';
import { asMicros } from '../../service/values/money.ts';
import { now } from '../fixtures/records.ts';
import { conflictWith, inBetween, loseAnswerOf } from './portal-fixture.ts';
import {
  type Answered,
  type AnyBody,
  fieldsOf,
  openWholePortal,
  type SignedIn,
  type WholePortal,
} from './whole-portal.ts';

const hour = 3_600_000;
let portal: WholePortal;
let account: AccountId;
let owner: SignedIn;

beforeEach(async () => {
  portal = openWholePortal();
  account = await portal.openAccount('Acc0unt001');
  owner = await portal.signIn('owner@studio.test', account, 'owner');
});

const create = (body: object = { name: 'server' }, as = owner): Promise<Answered> =>
  portal.ask('createKey', { as, body });
const listed = async (as = owner): Promise<AnyBody['data']> =>
  (await portal.ask('listKeys', { as })).body.data;

describe('a new key', () => {
  it('Only the answer has the key, and the table has its hash and its last four characters', async () => {
    const limits = {
      daily_cap: 1,
      monthly_cap: 2.5,
      total_cap: null,
      per_user_monthly_cap: 0.000001,
      models: ['sandbox-sketch', 'sandbox-sketch'],
      expires_at: '2027-01-31T19:00:00+01:00',
    };
    const { status, body } = await create({ name: 'server', ...limits });
    expect(status).toBe(201);
    const stored = await portal.keys.read(account, body.record.id as KeyId);
    expect(stored).toMatchObject({ hash: parseKey(body.key)?.hash, last4: body.key.slice(-4) });
    expect(body.record).toMatchObject({
      name: 'server',
      daily_cap: 1,
      monthly_cap: 2.5,
      total_cap: null,
      per_user_monthly_cap: 0.000001,
      models: ['sandbox-sketch'],
      expires_at: '2027-01-31T18:00:00.000Z',
      last4: body.key.slice(-4),
    });
    expect(JSON.stringify([...portal.memory.all()])).not.toContain(body.key);
    expect(portal.log.text()).not.toContain(body.key);
    expect(await listed()).toEqual([body.record]);
  });

  it('Every wrong field of the body is named', async () => {
    const refused = await create({
      name: ' ',
      daily_cap: -1,
      monthly_cap: '5',
      total_cap: 0.0000001,
      per_user_monthly_cap: 2e9,
      models: [],
      expires_at: '2027-02-30T00:00:00Z',
      rate: 5,
    });
    expect(refused.status).toBe(400);
    expect(fieldsOf(refused)).toEqual([
      'daily_cap',
      'expires_at',
      'models',
      'monthly_cap',
      'name',
      'per_user_monthly_cap',
      'rate',
      'total_cap',
    ]);
    const later = await create({ name: 'a', models: ['nothing'], expires_at: '2026-01-01T00:00:00Z' });
    expect(later.body.error.details.errors).toEqual([
      { field: 'models[0]', code: 'unknown_model', message: 'is no model of this account' },
      { field: 'expires_at', code: 'too_small', message: 'must be in the future' },
    ]);
    expect((await create({})).body.error.message).toBe('name: required');
    expect(await listed()).toEqual([]);
  });

  it('A developer with a limit for keys makes, changes and rolls no key above it', async () => {
    const developer = await portal.signIn('dev@studio.test', account, 'developer', {
      keyCapMicros: 5_000_000,
    });
    const refused = 'monthly_cap: must be at most 5.00 USD, your own limit for keys';
    for (const body of [{ name: 'a' }, { name: 'a', monthly_cap: 5.01 }])
      expect((await create(body, developer)).body.error.message).toBe(refused);
    const own = (await create({ name: 'a', monthly_cap: 5 }, developer)).body.record;
    const change = (body: object): Promise<Answered> =>
      portal.ask('changeKey', { as: developer, id: own.id, body: { version: own.version, ...body } });
    expect((await change({ monthly_cap: null })).body.error.message).toBe(refused);
    const large = (await create({ name: 'large' })).body.record;
    const ofLarge = { as: developer, id: large.id };
    const rolled = await portal.ask('rollKey', { ...ofLarge, body: { old_key_ends_in: '1h' } });
    expect(rolled.body.error.message).toBe(refused);
    const { version } = large;
    const daily = await portal.ask('changeKey', { ...ofLarge, body: { daily_cap: 1, version } });
    expect(daily.status).toBe(400);
    expect((await portal.ask('changeKey', { ...ofLarge, body: { name: 'big', version } })).status).toBe(200);
  });

  it('When the answer of the table is lost, no second key is made', async () => {
    loseAnswerOf(portal, 'KEY#');
    expect((await create()).status).toBe(201);
    expect(await listed()).toHaveLength(1);
  });
});

describe('a change of a key', () => {
  it('A change sets what it names, and null removes a limit', async () => {
    const { record } = (await create({ name: 'server', daily_cap: 1, models: ['sandbox-sketch'] })).body;
    const body = { version: record.version, name: 'worker', models: null, monthly_cap: 3 };
    const changed = await portal.ask('changeKey', { as: owner, id: record.id, body });
    expect(changed.body).toMatchObject({ name: 'worker', daily_cap: 1, models: null, monthly_cap: 3 });
    expect(await listed()).toEqual([changed.body]);
    const wrong = await portal.ask('changeKey', { as: owner, id: record.id, body: { name: 5, cap: 1 } });
    expect(fieldsOf(wrong)).toEqual(['cap', 'name', 'version']);
  });

  it('Of two people who change a key at once, one is refused, and nothing of the other is lost', async () => {
    const { record } = (await create({ name: 'server', daily_cap: 1 })).body;
    const change = (body: object) => () =>
      portal.ask('changeKey', { as: owner, id: record.id, body: { version: record.version, ...body } });
    const [late, first] = await inBetween(portal, 'KEY#', change({ name: 'late' }), change({ daily_cap: 2 }));
    expect([late.status, first.status]).toEqual([409, 200]);
    expect(late.body.error.code).toBe('ERR_CONFLICT');
    expect(await listed()).toMatchObject([{ name: 'server', daily_cap: 2 }]);
    expect((await change({ name: 'later' })()).status).toBe(409);
    const { version } = first.body;
    expect((await change({ name: 'again', version })()).status).toBe(200);
  });

  it('A change is made once, over conflicts and over a lost answer', async () => {
    const { record } = (await create()).body;
    conflictWith(portal, 'KEY#', 3);
    const body = { version: record.version, monthly_cap: 4 };
    const changed = await portal.ask('changeKey', { as: owner, id: record.id, body });
    expect(changed.status).toBe(200);
    loseAnswerOf(portal, 'KEY#');
    const again = { version: changed.body.version, monthly_cap: null };
    expect((await portal.ask('changeKey', { as: owner, id: record.id, body: again })).status).toBe(200);
    expect(await listed()).toMatchObject([{ monthly_cap: null }]);
  });

  it('A revocation and a change at once end with a revoked key', async () => {
    const { record } = (await create()).body;
    const [changed, revoked] = await inBetween(
      portal,
      'KEY#',
      () =>
        portal.ask('changeKey', { as: owner, id: record.id, body: { version: record.version, name: 'b' } }),
      () => portal.ask('revokeKey', { as: owner, id: record.id }),
    );
    expect([changed.status, revoked.status]).toEqual([409, 200]);
    expect(await listed()).toMatchObject([{ name: 'server', revoked_at: revoked.body.revoked_at }]);
    portal.clock.set(portal.clock.now() + hour);
    const again = await portal.ask('revokeKey', { as: await fresh(), id: record.id });
    expect(again.body.revoked_at).toBe(revoked.body.revoked_at);
  });
});

const fresh = (): Promise<SignedIn> =>
  portal.signIn(`owner-${portal.clock.now()}@studio.test`, account, 'owner');

describe('a roll', () => {
  const roll = (id: string, endsIn = '24h', as = owner): Promise<Answered> =>
    portal.ask('rollKey', { as, id, body: { old_key_ends_in: endsIn } });

  it('The new key has the name and the limits of the old one, which ends at the chosen time', async () => {
    const old = (await create({ name: 'server', daily_cap: 1, models: ['sandbox-sketch'] })).body;
    for (const [endsIn, millis] of [
      ['7d', 168 * hour],
      ['24h', 24 * hour],
      ['1h', hour],
    ] as const) {
      const { status, body } = await roll(old.record.id, endsIn);
      const until = new Date(now + millis).toISOString();
      expect([status, body.replaced_until]).toEqual([201, until]);
      expect(body.record).toMatchObject({ name: 'server', daily_cap: 1, models: ['sandbox-sketch'] });
      expect(body.record.expires_at).toBeNull();
      expect(parseKey(body.key)?.keyId).toBe(body.record.id);
      expect(await portal.keys.read(account, old.record.id as KeyId)).toMatchObject({ expiresAt: until });
    }
    // The end that the first roll gave the key is no limit for the keys after it.
    // It ends in an hour already, and no roll makes it live longer.
    expect((await roll(old.record.id, '7d')).body.replaced_until).toBe(new Date(now + hour).toISOString());
    expect((await roll(old.record.id, '2h')).status).toBe(400);
  });

  it('A key that is revoked or expired is not rolled', async () => {
    const revoked = (await create()).body.record;
    await portal.ask('revokeKey', { as: owner, id: revoked.id });
    expect((await roll(revoked.id)).status).toBe(409);
    const short = (await create({ name: 'short', expires_at: new Date(now + hour).toISOString() })).body
      .record;
    portal.clock.set(now + hour);
    const later = await fresh();
    expect((await roll(short.id, '1h', later)).status).toBe(409);
    expect(await listed(later)).toHaveLength(2);
  });

  it('Nothing is written when somebody changes the old key meanwhile', async () => {
    const { record } = (await create()).body;
    const [rolled, changed] = await inBetween(
      portal,
      'KEY#',
      () => roll(record.id),
      () =>
        portal.ask('changeKey', { as: owner, id: record.id, body: { version: record.version, name: 'b' } }),
    );
    expect([rolled.status, changed.status]).toEqual([409, 200]);
    expect(await listed()).toMatchObject([{ name: 'b', expires_at: null }]);
  });

  it('A lost answer of the table makes one new key', async () => {
    const { record } = (await create()).body;
    loseAnswerOf(portal, 'KEY#');
    const { status, body } = await roll(record.id);
    expect(status).toBe(201);
    const ids = (await listed()).map(({ id }) => id).sort();
    expect(ids).toEqual([record.id, body.record.id].sort());
  });
});

describe('the key of the playground', () => {
  it('Nobody can change, roll or revoke the key of the playground', async () => {
    await portal.ask('quoteCreation', { as: owner, body: { model: 'sandbox-sketch', prompt: 'a' } });
    const id = 'portal';
    expect(await portal.keys.read(account, id as KeyId)).toMatchObject({ name: 'Playground', hash: '' });
    expect(await listed()).toEqual([]);
    const version = 'x';
    const answers = [
      await portal.ask('changeKey', { as: owner, id, body: { name: 'b', version } }),
      await portal.ask('revokeKey', { as: owner, id }),
      await portal.ask('rollKey', { as: owner, id, body: { old_key_ends_in: '1h' } }),
      await portal.ask('revokeKey', { as: owner, id: 'absent' }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404]);
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
  });
});

describe('the keys of an account', () => {
  /** Fills the account up to so many keys. */
  const fill = async (count: number): Promise<void> => {
    const from = (await listed()).length;
    for (let one = from; one < count; one += 1)
      expect((await create({ name: `key ${one}` })).status).toBe(201);
  };
  const statuses = (answers: readonly Answered[]): number[] => answers.map(({ status }) => status).sort();

  it('Of ten new keys at once an account with 97 gets three, and the others are refused with what helps', async () => {
    await fill(97);
    const answers = await Promise.all(Array.from({ length: 10 }, () => create()));
    expect(statuses(answers)).toEqual([...Array<number>(3).fill(201), ...Array<number>(7).fill(429)]);
    const refused = answers.find(({ status }) => status === 429);
    expect(refused?.body.error).toMatchObject({
      code: 'ERR_QUOTA_EXCEEDED',
      message: 'An account may have 100 keys that work. Revoke one that nobody uses.',
      details: { scope: 'account', reason: 'keys', limit: 100, current: 100 },
    });
    expect(refused?.headers['retry-after']).toBe('60');
    expect(await listed()).toHaveLength(100);
  });

  it('A key that is revoked or has ended makes room, and a key that was rolled counts until its end', async () => {
    await fill(99);
    const [first, second] = await listed();
    const roll = (id = ''): Promise<Answered> =>
      portal.ask('rollKey', { as: owner, id, body: { old_key_ends_in: '1h' } });
    expect((await roll(first?.id)).status).toBe(201);
    expect((await roll(second?.id)).status).toBe(429);
    expect((await create()).status).toBe(429);
    await portal.ask('revokeKey', { as: owner, id: second?.id ?? '' });
    expect(statuses([await create(), await create()])).toEqual([201, 429]);
    portal.clock.set(portal.clock.now() + hour);
    owner = await portal.signIn('late@studio.test', account, 'owner');
    expect(statuses([await create(), await create()])).toEqual([201, 429]);
  });
});

describe('the page of a key', () => {
  const show = async (id: string): Promise<Answered> => portal.ask('showKey', { as: owner, id });

  it('The key is shown with the tokens that it minted, and what each of them spent', async () => {
    const { id } = (await create({ name: 'shop', monthly_cap: 9 })).body.record;
    const tokens = createUserTokens(portal.table);
    const mint = async (
      keyId: string,
      user: string,
      minutes: number,
      leftMicros = 500_000,
    ): Promise<void> => {
      const made = newUserToken({ id: keyId as KeyId, accountId: account }, user, randomBytes);
      const expiresAt = new Date(now + minutes * 60_000).toISOString();
      const limits = {
        limitMicros: asMicros(500_000),
        maxUses: 10,
        usesLeft: 7,
        uploadsLeft: 10,
        origins: [],
      };
      const token = { ...limits, id: made.id, hash: made.hash, leftMicros: asMicros(leftMicros), expiresAt };
      await tokens.create({ ...token, accountId: account, keyId: keyId as KeyId, user });
    };
    await mint(id, 'ada', 1, 380_000);
    await mint(id, 'ben', 5);
    await mint((await create({ name: 'other' })).body.record.id, 'eve', 3, 0);
    const { body } = await show(id);
    expect(body).toMatchObject({
      key: { id, name: 'shop', monthly_cap: 9 },
      tokens: [
        { user: 'ben', spent: 0 },
        { user: 'ada', spend_limit: 0.5, spent: 0.12, uses: 3, max_uses: 10, revoked_at: null },
      ],
      ...{ token_count: 2, tokens_spent: 0.12, has_all_tokens: true },
    });
    expect(JSON.stringify(body)).not.toMatch(/dk_user_|hash/);
  });

  it('A key of the playground, of another account, and none at all are the same 404', async () => {
    const other = await portal.openAccount('Acc0unt002');
    const theirs = await portal.signIn('owner@other.test', other, 'owner');
    const { id } = (await create({ name: 'theirs' }, theirs)).body.record;
    const answers = await Promise.all([id, playgroundKeyId, 'none', 'Abc123'].map(show));
    expect(new Set(answers.map(({ status, body }) => `${status} ${body.error.message}`)).size).toBe(1);
    expect(answers[0]?.status).toBe(404);
  });
});

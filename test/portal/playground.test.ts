/** The playground: the API's own operations behind a session, charged through a key of its own. */
import { beforeEach, describe, expect, it } from 'vitest';
import { playgroundKeyId } from '../../service/accounts/key-changes.ts';
import type { AccountId, CreationId } from '../../service/values/ids.ts';
import { loseAnswerOf } from './portal-fixture.ts';
import { type Answered, fieldsOf, openWholePortal, type SignedIn, type WholePortal } from './whole-portal.ts';
import { createOperatorCatalogStore } from '../../service/catalog/operator-catalog-store.ts';
import { createProviderStore } from '../../service/catalog/provider-store.ts';
import { catalog as ours } from '../../service/platform/lambda.ts';

let portal: WholePortal;
let account: AccountId;
let developer: SignedIn;

beforeEach(async () => {
  portal = openWholePortal();
  account = await portal.openAccount('Acc0unt001');
  developer = await portal.signIn('dev@studio.test', account, 'developer');
});

const body = { model: 'sandbox-standard', prompt: 'a quiet lake' };
const create = (headers: Readonly<Record<string, string>> = {}, asked: object = body): Promise<Answered> =>
  portal.ask('createCreation', { as: developer, body: asked, headers });
const available = async (): Promise<number | undefined> =>
  (await portal.accounts.read(account))?.availableMicros;

describe('the playground', () => {
  it('A creation is charged to the account through the key of the playground, and started', async () => {
    const quoted = await portal.ask('quoteCreation', { as: developer, body });
    expect(quoted.body).toMatchObject({ cost: 0.04, available: 25, sufficient: true });
    const { status, body: created, headers } = await create();
    expect([status, created.status, headers['location']]).toEqual([202, 'queued', undefined]);
    expect(await portal.creations.read(created.id as CreationId)).toMatchObject({
      keyId: playgroundKeyId,
      accountId: account,
    });
    expect(portal.started).toEqual([created.id]);
    expect(await available()).toBe(24_960_000);
    const key = await portal.keys.read(account, playgroundKeyId);
    expect(key?.spent).toEqual({ '2026_11': 40_000 });
    const owner = await portal.signIn('owner@studio.test', account, 'owner');
    const { data } = (await portal.ask('listActions', { as: owner })).body;
    expect(data).toMatchObject([{ action: 'createCreation', target: created.id, outcome: 'done' }]);
  });

  it('Two first uses at once make one key, and both are charged', async () => {
    const [one, two] = await Promise.all([create(), create()]);
    expect([one.status, two.status]).toEqual([202, 202]);
    expect(await available()).toBe(24_920_000);
    expect((await portal.keys.read(account, playgroundKeyId))?.spent).toEqual({ '2026_11': 80_000 });
  });

  it('The same Idempotency-Key is one creation, also after a lost answer of the charge', async () => {
    loseAnswerOf(portal, 'CREATION"');
    const first = await create({ 'idempotency-key': 'press 1' });
    const again = await create({ 'idempotency-key': 'press 1' });
    expect([first.status, again.status, again.body.id]).toEqual([202, 202, first.body.id]);
    expect(await available()).toBe(24_960_000);
  });

  it('Refusals are those of the API: fields, money, rate, room and suspension', async () => {
    expect(fieldsOf(await create({}, { model: 'sandbox-standard', size: 1 }))).toEqual(['prompt', 'size']);
    expect((await create({}, { ...body, model: 'nothing' })).body.error.code).toBe('ERR_MODEL_NOT_FOUND');
    await portal.accounts.change(account, { maxConcurrent: 1 });
    expect((await create()).status).toBe(202);
    expect((await create()).body.error.details.reason).toBe('concurrent_creations');
    await portal.accounts.change(account, { maxConcurrent: 9, postRate: 5 });
    expect((await create()).status).toBe(202);
    const over = await create();
    expect([over.status, over.body.error.details.reason]).toEqual([429, 'account_rate']);
    await portal.accounts.change(account, { condition: 'suspended', postRate: 60 });
    expect((await create()).body.error.code).toBe('ERR_API_SUSPENDED');
    expect((await portal.ask('getHome', { as: developer })).status).toBe(200);
    await portal.accounts.change(account, { condition: 'active' });
    await portal.wallet.adjust(
      account,
      -24_900_000 as Parameters<WholePortal['wallet']['adjust']>[1],
      'test',
    );
    portal.clock.set(portal.clock.now() + 60_000);
    expect((await create()).body.error.code).toBe('ERR_INSUFFICIENT_BALANCE');
  });

  it('A creation is cancelled with its charge given back, once', async () => {
    const { id } = (await create()).body;
    const cancel = (): Promise<Answered> => portal.ask('cancelPortalCreation', { as: developer, id });
    loseAnswerOf(portal, 'CREATION"');
    expect((await cancel()).body).toMatchObject({ id, status: 'failed' });
    expect((await cancel()).status).toBe(200);
    expect(await available()).toBe(25_000_000);
  });
});

describe('The portal with an own catalog', () => {
  let owner: SignedIn;
  beforeEach(async () => {
    portal = openWholePortal();
    const account = await portal.openAccount('Acc0unt001');
    owner = await portal.signIn('owner@studio.test', account, 'owner');
    const [sketch] = ours.models;
    await createOperatorCatalogStore(portal.table).store(
      { revision: '1-a', providers: [], costs: [], models: { own: { ...sketch }, 'sandbox-pro': null } },
      undefined,
    );
  });

  it('lists the models that are sold', async () => {
    const { body } = await portal.ask('listPortalModels', { as: owner });
    const ids = body.data.map(({ id }) => id);
    expect(ids).toContain('own');
    expect(ids).not.toContain('sandbox-pro');
    expect((await portal.ask('getAccount', { as: owner })).text).toContain('"own"');
  });

  it('limits keys to models that are sold', async () => {
    const keyFor = async (model: string): Promise<Answered> =>
      portal.ask('createKey', { as: owner, body: { name: 'server', models: [model] } });
    expect((await keyFor('own')).status).toBe(201);
    expect((await keyFor('sandbox-pro')).status).toBe(400);
  });

  it('quotes by what is sold', async () => {
    const quote = async (model: string): Promise<Answered> =>
      portal.ask('quoteCreation', { as: owner, body: { model, prompt: 'a lake' } });
    expect(await quote('own')).toMatchObject({ status: 200, body: { cost: 0.01 } });
    expect((await quote('sandbox-pro')).status).toBe(404);
  });

  it('shows the operator a configured provider that is enabled', async () => {
    await createProviderStore(portal.table).enable('gpu');
    const operator = await portal.signIn('op@service.test', undefined, 'operator');
    const { body } = await portal.ask('listProviders', { as: operator });
    expect(body.data).toContainEqual(expect.objectContaining({ name: 'gpu', enabled: true, outcomes: {} }));
  });
});

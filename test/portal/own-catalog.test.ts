/** What an operator sells holds in the portal, too: in its lists, for keys, and for the playground. */
import { beforeEach, describe, expect, it } from 'vitest';
import { createOperatorCatalogStore } from '../../service/catalog/operator-catalog-store.ts';
import { createProviderStore } from '../../service/catalog/provider-store.ts';
import { catalog as ours } from '../../service/platform/lambda.ts';
import { type Answered, openWholePortal, type SignedIn, type WholePortal } from './whole-portal.ts';

let portal: WholePortal;
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

describe('The portal with an own catalog', () => {
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
    expect(body.data).toContainEqual(expect.objectContaining({ name: 'gpu', enabled: true, attempts: 0 }));
  });
});

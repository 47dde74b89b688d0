/** The item of a lease on the simulation's table: what is written, what it costs, and when it goes away. */
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, it, afterAll, beforeAll } from 'vitest';
import { writeUnits } from '../../../lab/cost/meter.ts';
import { createDirectClient } from '../../../lab/simulation/aws/http-exchange.ts';
import { type Change, createSimulatedTable } from '../../../lab/simulation/aws/simulated-table.ts';
import { createAccountStore } from '../../../service/accounts/account-store.ts';
import { keys, type Table } from '../../../service/aws/dynamodb/table.ts';
import { creationToItem } from '../../../service/creations/creation-items.ts';
import { createCreationStore, type CreationStore } from '../../../service/creations/creation-store.ts';
import { fakeClock, fakeLog, fakeProvider, pngBytes, rejection, stub } from '../../api/fakes.ts';
import { aCreation, anAccount, creationId, now, seededBytes, storedImage } from '../../fixtures/records.ts';
import { idOf, openStores, orderOf } from '../facts.ts';
import { leaseInBoth, type Release, thisRelease } from './renderers.ts';
import type { ImageStore } from '../../../service/creations/image-store.ts';
import type { RenderServices } from '../../../service/render/open.ts';
import { renderImage } from '../../../service/render/render-image.ts';
import { renderServices } from '../../render/walk-fixture.ts';
import { type Engine, startStandIn } from '../engines.ts';

const day = 86_400_000;

it('The item of a lease goes away a day after it was taken, and the creation stays', async () => {
  const clock = fakeClock();
  const memory = createSimulatedTable({ now: () => clock.now() });
  const table: Table = {
    name: 'table',
    clock,
    randomBytes: seededBytes,
    client: createDirectClient((operation, input) => memory.perform(operation, input)),
  };
  const { charges } = await openStores(table);
  await charges.charge(orderOf(1));
  await createCreationStore(table).lease(idOf(1), 'one', now + 6_000, now);
  const stored = (): unknown => memory.get(keys.lease(idOf(1)).pk, keys.lease(idOf(1)).sk);
  clock.set(now + day - 1_000);
  memory.expire();
  expect(stored()).toBeDefined();
  clock.set(now + day + 1_000);
  memory.expire();
  expect(stored()).toBeUndefined();
  expect(memory.get(keys.creation(idOf(1)).pk, keys.creation(idOf(1)).sk)).toBeDefined();
});

/** The write units of a rendering that renews its lease seven times, and the items that a renewal wrote. */
async function renderWith(release: Release, prompt: string): Promise<{ units: number; renewed: string[] }> {
  let units = 0;
  let changed: Change[] = [];
  const memory = createSimulatedTable({
    now: () => now,
    onCommit: (changes) => {
      changed.push(...changes);
      for (const change of changes) units += writeUnits(change, changes.length > 1);
    },
  });
  const table: Table = {
    name: 'table',
    clock: fakeClock(),
    randomBytes: seededBytes,
    client: createDirectClient((operation, input) => memory.perform(operation, input)),
  };
  const creation = aCreation({ prompt });
  await createAccountStore(table).create(anAccount({ inFlight: 1 }));
  await table.client.send(new PutCommand({ TableName: table.name, Item: creationToItem(creation) }));
  units = 0;
  const lease = release(table, creationId);
  const attempt = {
    provider: 'sandbox',
    providerModel: 'standard',
    startedAt: '',
    resultKey: storedImage.key,
  };
  await lease.take('one', now + 6_000, now);
  await lease.save('one', [attempt]);
  changed = [];
  for (let renewal = 1; renewal <= 7; renewal += 1) await lease.renew('one', now + 6_000 + renewal * 2_000);
  const renewed = [...new Set(changed.map(({ sk }) => sk))].sort();
  await createCreationStore(table).complete(creation, {
    results: [storedImage],
    resultsExpireAt: now + day,
    attempts: [attempt],
    nowMillis: now,
  });
  return { units, renewed };
}

describe('the write units of a rendering with seven renewals', () => {
  it.each([
    ['the release that writes both places', leaseInBoth, 23, 67, ['CREATION', 'LEASE']],
    ['this release', thisRelease, 16, 32, ['LEASE']],
  ])('With %s, they are known for each prompt', async (_which, release, short, long, written) => {
    expect(await renderWith(release, 'a quiet lake')).toEqual({ units: short, renewed: written });
    expect(await renderWith(release, 'a'.repeat(4_000))).toEqual({ units: long, renewed: written });
  });
});

let engine: Engine;
beforeAll(async () => {
  engine = await startStandIn();
});
afterAll(() => engine.end());

it('A renderer that wakes after its lease was taken saves no attempt, calls no vendor and is tried again', async () => {
  const stores = await openStores(await engine.open());
  await stores.charges.charge(orderOf(1));
  const clock = fakeClock();
  const log = fakeLog();
  const images = stub<ImageStore>({
    find: async () => Promise.resolve(undefined),
    put: () => Promise.resolve(),
  });
  const servicesOf = (creations: CreationStore, provider: ReturnType<typeof fakeProvider>): RenderServices =>
    renderServices({ clock, log, creations, images, providers: new Map([['sandbox', provider]]) });
  const payload = { creation_id: idOf(1) };

  const [asleep, awake] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()];
  const store = createCreationStore(stores.table);
  const sleepy: CreationStore = {
    ...store,
    saveAttempts: async (...save) => {
      asleep.resolve(undefined);
      await awake.promise;
      return store.saveAttempts(...save);
    },
  };
  const unasked = fakeProvider('sandbox');
  const first = rejection(renderImage(payload, 'request-1', servicesOf(sleepy, unasked)));
  await asleep.promise;

  clock.set(now + 6_000);
  const [asked, answer] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()];
  const slow = fakeProvider('sandbox', async () => {
    asked.resolve(undefined);
    await answer.promise;
    return { kind: 'rendered', bytes: pngBytes };
  });
  const second = renderImage(payload, 'request-2', servicesOf(store, slow));
  await asked.promise;
  const before = await store.read(idOf(1));
  expect(before?.attempts).toHaveLength(1);

  awake.resolve(undefined);
  expect(await first).toMatchObject({ name: 'StillRunning' });
  expect(unasked.calls).toEqual([]);
  expect(await store.read(idOf(1))).toEqual(before);

  answer.resolve(undefined);
  await second;
  expect(slow.calls).toEqual(['submit standard']);
  expect(await store.read(idOf(1))).toMatchObject({ status: 'completed' });
});

/**
 * Two invocations of RenderImage on one creation, over a socket. The first one stands still for longer than
 * its lease lasts, and wakes after the second one has taken the lease.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createCreationStore, type CreationStore } from '../../../service/creations/creation-store.ts';
import type { ImageStore } from '../../../service/creations/image-store.ts';
import type { RenderServices } from '../../../service/render/open.ts';
import { renderImage } from '../../../service/render/render-image.ts';
import { schema } from '../../../service/values/runtime.ts';
import { fakeClock, fakeLog, fakeProvider, pngBytes, rejection, stub } from '../../api/fakes.ts';
import { now, seededBytes } from '../../fixtures/records.ts';
import { noteNothing } from '../../render/fake-health.ts';
import { type Engine, startStandIn } from '../engines.ts';
import { idOf, openStores, orderOf } from '../facts.ts';

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
    stub<RenderServices>({
      health: noteNothing(),
      clock,
      log,
      schema,
      randomBytes: seededBytes,
      providerCosts: { costs: [] },
      creations,
      images,
      providers: new Map([['sandbox', provider]]),
      resultDays: 30,
    });
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

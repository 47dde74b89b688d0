/** The headers of a model that goes away, on the answers that concern a creation of the model. */
import { afterAll, expect, it } from 'vitest';
import type { ModelPatch } from '../../service/catalog/operator-catalog.ts';
import { type Client, sharedTestService } from '../fixtures/service.ts';
import { everyAnswer } from './every-answer.ts';
import { settled, submit } from './workflow/creations.ts';

const service = await sharedTestService();
afterAll(() => service.end());

async function stored(revision: string, before: string | undefined, patch: ModelPatch): Promise<void> {
  const catalog = { revision, providers: [], models: { 'sandbox-sketch': patch }, costs: [] };
  expect(await service.operator.operatorCatalog.store(catalog, before)).toBe(true);
}

it('GET /creations/{id} shows Deprecation a minute after the catalog says so, and no longer a minute after it was taken back', async () => {
  const client: Client = await service.client();
  const id = await submit(service, client.key, { model: 'sandbox-sketch', prompt: 'a lake' });
  await settled(service, id);
  const shown = async (): Promise<string | null> =>
    (await service.send(`/creations/${id}`, { key: client.key })).headers.get('deprecation');
  expect(await shown()).toBeNull();
  const end = { deprecated_at: '2026-01-01T00:00:00Z', sunset_at: '2126-01-01T00:00:00Z' };
  await stored('1-a', undefined, end);
  service.jump(60);
  expect(await shown()).toBe('@1767225600');
  await stored('2-b', '1-a', {});
  service.jump(60);
  expect(await shown()).toBeNull();
});

everyAnswer(() => service);

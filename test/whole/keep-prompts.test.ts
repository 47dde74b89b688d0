import { afterAll, expect, it } from 'vitest';
import { reopenWebhook } from '../../service/webhooks/redeliver.ts';
import { startTestService } from '../fixtures/service.ts';
import { movementsOf, recordOf, settled, submit } from './workflow/creations.ts';
import { everyAnswer } from './every-answer.ts';

const service = await startTestService({ environment: { KEEP_PROMPTS_DAYS: '14' } });
afterAll(async () => {
  expect(await service.audit()).toEqual([]);
  await service.end();
});

const day = 86_400;
/** Lets EraseContent run once. */
const quarter = (): Promise<unknown> => service.machine.advance(900);

it('The texts of a creation go after the days of the setting, with rows of deliveries, and its image and the books stay', async () => {
  const client = await service.client();
  const id = await submit(service, client.key, {
    prompt: 'a castle',
    metadata: { order: 'order-4711' },
    user: 'customer',
    webhook_url: `${service.machine.inboxUrl}?address`,
  });
  const bare = await submit(service, client.key, { prompt: 'a castle' });
  const before = await settled(service, id);
  await settled(service, bare);
  await service.machine.advance(13 * day);
  const owed = await submit(service, client.key, {
    prompt: 'a castle',
    webhook_url: service.machine.inboxUrl,
  });
  await settled(service, owed);
  await quarter();
  expect(await recordOf(service, id)).toEqual(before);
  service.jump(2 * day);
  await quarter();
  const after = await recordOf(service, id);
  expect(after).toMatchObject({
    status: 'completed',
    prompt: null,
    metadata: {},
    webhook: { status: 'delivered', url: '', attempts: 1 },
  });
  expect(after.erasedBy).toBeUndefined();
  expect(JSON.stringify(after)).not.toMatch(/castle|order-4711|customer|address/);
  expect(await recordOf(service, bare)).toMatchObject({ prompt: null });
  expect(service.log.filter((line) => line.includes('"content_erased"')).length).toBeGreaterThan(0);
  expect(await recordOf(service, owed)).toMatchObject({ prompt: 'a castle' });
  const rows = await service.operator.deliveries.log(client.account.id, 10);
  expect(rows.map(({ creationId }) => creationId)).toEqual([owed]);
  const shown = await service.send(`/creations/${id}`, { key: client.key });
  const { result_urls: urls, ...rest } = shown.body as { result_urls: string[] };
  expect(rest).toMatchObject({ prompt: null, webhook: null, erased_at: after.erasedAt });
  expect((await fetch(urls[0] ?? '')).status).toBe(200);
  expect(await movementsOf(service, after)).toEqual(['charge']);
  expect((await service.send(`/creations/${id}`, { key: client.key, method: 'DELETE' })).status).toBe(204);
  expect((await fetch(urls[0] ?? '')).status).toBe(403);
});

it('A creation whose webhook is owed again that day keeps its texts, and the next run takes them', async () => {
  const client = await service.client();
  const id = await submit(service, client.key, {
    prompt: 'a tower',
    webhook_url: `${service.machine.inboxUrl}?status=500`,
  });
  await service.ended(id);
  await service.machine.advance(1_000);
  expect(await settled(service, id)).toMatchObject({ webhook: { status: 'failed' } });
  service.jump(15 * day);
  await reopenWebhook(await recordOf(service, id), service.operator);
  await quarter();
  expect(await recordOf(service, id)).toMatchObject({ prompt: 'a tower' });
  await service.machine.advance(1_000);
  service.jump(day);
  await quarter();
  expect(await recordOf(service, id)).toMatchObject({ prompt: null });
});

everyAnswer(() => service);

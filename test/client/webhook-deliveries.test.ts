/** verifyWebhook, the recipes and the libraries of Standard Webhooks, with deliveries of the real service. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { issueSecret } from '../../admin/commands/webhooks.ts';
import { setNotices } from '../../service/notices/alert-settings.ts';
import { asMicros } from '../../service/values/money.ts';
import { sendTestDelivery } from '../../service/webhooks/redeliver.ts';
import { verifyWebhook } from '../../client/src/webhooks.ts';
import { readPage, root } from '../docs/pages.ts';
import { startTestService, type Client, type TestService } from '../fixtures/service.ts';
import { submit } from '../whole/workflow/creations.ts';
import { startReceiver, type Arrival, type Receiver } from '../whole/workflow/receiver.ts';
import { recipeNames, startRecipe, type RecipeName, type RecipeServer } from './recipe-servers.ts';

let service: TestService;
let receiver: Receiver;
let client: Client;
const recipes = new Map<RecipeName, RecipeServer>();
beforeAll(async () => {
  [service, receiver] = await Promise.all([startTestService(), startReceiver()]);
  client = await service.client();
  for (const name of recipeNames) recipes.set(name, await startRecipe(name, client.webhookSecret));
});
afterAll(async () => {
  await Promise.all([...recipes.values()].map((recipe) => recipe.close()));
  await receiver.close();
  await service.end();
});

async function only(hook: string): Promise<Arrival> {
  await receiver.until(hook, 1);
  const [arrival] = receiver.arrivals(hook);
  if (!arrival) throw new Error(`nothing came to ${hook}`);
  return arrival;
}

/** Renders one picture, and gives its webhook as it arrived. */
async function delivered(hook: string, prompt: string): Promise<Arrival> {
  await submit(service, client.key, { prompt, webhook_url: receiver.hook(hook, 204) });
  return only(hook);
}

/** What both verifications say about a delivery. Both throw when they refuse it. */
async function verified({ headers, raw }: Arrival, secret = client.webhookSecret): Promise<unknown> {
  const event = await verifyWebhook({ headers, body: raw }, secret);
  expect(new Webhook(secret).verify(raw, headers)).toEqual(event);
  return event;
}

describe('deliveries of the service', () => {
  it('A completed and a failed creation are verified by verifyWebhook and by the library of Standard Webhooks', async () => {
    const completed = await delivered('completed', 'a lake');
    expect(await verified(completed)).toMatchObject({ event: 'creation.completed', status: 'completed' });
    const failed = await delivered('failed', 'a lake [sandbox:fail]');
    expect(await verified(failed)).toMatchObject({
      event: 'creation.failed',
      error: 'Generation failed. Please try again.',
      cancelled_at: null,
    });
    const changed = { ...failed, raw: Buffer.from(String(failed.raw).replace('0.01', '0.02')) };
    await expect(verified(changed)).rejects.toMatchObject({ reason: 'signature_mismatch' });
  });

  it('A test delivery and a notice are verified', async () => {
    const { operator } = service;
    await sendTestDelivery(
      await service.account(client.account.id),
      { url: receiver.hook('test', 200) },
      operator,
    );
    expect(await verified(await only('test'))).toMatchObject({
      id: '00000000-0000-0000-0000-000000000000',
      metadata: { test: 'true' },
    });
    const poor = await service.client({ balance: '1' });
    const settings = { noticeUrl: receiver.hook('notice', 200), lowBalanceMicros: asMicros(1_000_000) };
    await setNotices(poor.account.id, settings, operator);
    await submit(service, poor.key, { prompt: 'a lake' });
    expect(await verified(await only('notice'), poor.webhookSecret)).toMatchObject({
      notice: 'wallet.low',
      account: { available: 0.99 },
    });
  });

  it('After a rotation, receivers with the old secret, the new one or both verify the same delivery', async () => {
    const old = client.webhookSecret;
    client = {
      ...client,
      webhookSecret: String(
        (await issueSecret(service.operator, await service.account(client.account.id)))['secret'],
      ),
    };
    const arrival = await delivered('rotated', 'a lake');
    for (const secret of [old, client.webhookSecret]) await verified(arrival, secret);
    const { headers, raw: body } = arrival;
    const { 'webhook-signature': _standard, ...plain } = headers;
    for (const secret of [old, client.webhookSecret, [old, client.webhookSecret]]) {
      expect(await verifyWebhook({ headers: plain, body }, secret)).toHaveProperty('event');
    }
  });
});

describe('the recipes of receivers', () => {
  it.each(recipeNames)('The receiver for %s takes a delivery, and refuses a forged one', async (name) => {
    const url = recipes.get(name)?.url ?? '';
    const log = vi.spyOn(console, 'log').mockReturnValue();
    const warn = vi.spyOn(console, 'warn').mockReturnValue();
    try {
      const { headers, raw } = receiver.arrivals('recipe')[0] ?? (await delivered('recipe', 'a lake'));
      const post = async (...bytes: number[]): Promise<number> =>
        (await fetch(url, { method: 'POST', headers: sendable(headers), body: new Uint8Array(bytes) }))
          .status;
      expect(await post(...raw)).toBe(204);
      const { id } = JSON.parse(String(raw)) as { id: string };
      expect(log).toHaveBeenCalledExactlyOnceWith('creation.completed', id);
      expect(await post(...raw, 32)).toBe(401);
      expect(log).toHaveBeenCalledTimes(1);
      expect(warn).toHaveBeenCalledOnce();
    } finally {
      log.mockRestore();
      warn.mockRestore();
    }
  });

  it.each(recipeNames)(
    'The receiver for %s has at most twelve lines, and its page shows it word for word',
    (name) => {
      const text = readFileSync(join(root, `client/recipes/${name}.mjs`), 'utf8');
      expect(text.trimEnd().split('\n').length).toBeLessThanOrEqual(12);
      const block = readPage('docs/client-webhooks.md').blocks.find(({ example }) => example === name);
      expect(block?.text).toBe(text);
    },
  );
});

/** The headers that fetch does not set itself. */
function sendable(headers: Arrival['headers']): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => /^(x-|webhook-|content-type)/.test(name)),
  );
}

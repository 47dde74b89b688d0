/**
 * The seven failure messages (service/contract/failures.ts). A client can cause each of them by a directive of the
 * sandbox.
 */
import { afterAll, describe, expect, it } from 'vitest';
import { sharedTestService } from '../../fixtures/service.ts';
import { jsonObject } from '../../fixtures/values.ts';
import { movementsOf, settled, spentBy, submit } from './creations.ts';
import { startReceiver } from './receiver.ts';

const [service, receiver] = await Promise.all([sharedTestService(), startReceiver()]);
afterAll(async () => {
  await receiver.close();
  await service.end();
});

const openingMicros = 25_000_000;

/**
 * These texts are literal on purpose: texts from service/contract/failures.ts could not show that one of them was changed.
 */
const failures = [
  {
    directive: 'reject-prompt',
    error:
      'Prompt rejected by the safety filter. Make the scene more specific — abstract or generic prompts are declined more often.',
    retryable: false,
  },
  {
    directive: 'reject-image',
    error: 'The source image was rejected. Try a different photo.',
    retryable: false,
  },
  { directive: 'fail', error: 'Generation failed. Please try again.', retryable: true },
  {
    directive: 'empty',
    error:
      'Nothing was rendered for this request. Describe the image you want in the prompt, or attach the source photo it refers to.',
    retryable: true,
  },
  { directive: 'hang', error: 'Generation timed out.', retryable: true, deadline: '3' },
  {
    directive: 'down',
    error: 'The service is temporarily unavailable. Please try again later.',
    retryable: true,
  },
  { directive: 'crash', error: 'Generation failed.', retryable: true },
] as const;

describe.concurrent('a creation that fails', () => {
  it.each(failures)(
    'A creation with [sandbox:$directive] has its documented message word for word and is refunded in full',
    async ({ directive, error, retryable, ...limits }) => {
      const { account, key } = await service.client(limits);
      const url = receiver.hook(directive, 200);
      const id = await submit(service, key, { prompt: `a lake [sandbox:${directive}]`, webhook_url: url });
      const record = await settled(service, id);
      // The account's deadline of 3 s ends a rendering that hangs. A quarter of the 3 s is kept for the
      // refund.
      if (directive === 'hang')
        expect(Date.parse(record.completedAt ?? '') - Date.parse(record.createdAt)).toBeGreaterThanOrEqual(
          2_250,
        );

      const answer = await service.send(`/creations/${id}`, { key });
      expect(answer.status).toBe(200);
      expect(answer.body).toMatchObject({
        id,
        status: 'failed',
        error,
        retryable,
        cost: 0.01,
        amount_refunded: 0.01,
        currency: 'USD',
        webhook: { url, status: 'delivered', attempts: 1 },
      });
      expect(answer.body).not.toHaveProperty('result_urls');
      expect(await service.account(account.id)).toMatchObject({
        availableMicros: openingMicros,
        inFlight: 0,
      });
      expect(await spentBy(service, account.id)).toBe(0);
      expect(await movementsOf(service, record)).toEqual(['charge', 'refund']);

      const [webhook, ...more] = receiver.arrivals(directive);
      expect(more).toEqual([]);
      expect(webhook?.headers['x-webhook-event']).toBe('creation.failed');
      const body = jsonObject(String(webhook?.raw));
      expect(body).toMatchObject({ event: 'creation.failed', id, status: 'failed', cost: 0.01, error });
      expect(body).not.toHaveProperty('result_urls');
    },
  );
});

describe.concurrent('a creation that completes', () => {
  it.each([
    { directive: 'delay=1s', leastMillis: 1_000 },
    { directive: 'async=1s', leastMillis: 1_000 },
  ])(
    'A creation with [sandbox:$directive] takes its time and is charged once',
    async ({ directive, leastMillis }) => {
      const { account, key } = await service.client();
      const id = await submit(service, key, {
        prompt: `a lake [sandbox:${directive}]`,
        webhook_url: receiver.hook(directive, 200),
      });
      const record = await settled(service, id);
      expect(
        Date.parse(record.completedAt ?? '') - Date.parse(record.startedAt ?? ''),
      ).toBeGreaterThanOrEqual(leastMillis);
      const { body } = (await service.send(`/creations/${id}`, { key })) as {
        body: { result_urls: string[] };
      };
      expect(body).toMatchObject({
        status: 'completed',
        cost: 0.01,
        amount_refunded: 0,
        webhook: { status: 'delivered' },
      });
      expect(body).not.toHaveProperty('error');
      expect(await movementsOf(service, record)).toEqual(['charge']);
      expect(await service.account(account.id)).toMatchObject({
        availableMicros: openingMicros - 10_000,
        inFlight: 0,
      });
      const [webhook] = receiver.arrivals(directive);
      expect(JSON.parse(String(webhook?.raw))).toMatchObject({
        event: 'creation.completed',
        id,
        result_urls: body.result_urls,
      });
    },
  );

  it('A creation whose first provider is unavailable is rendered by the next provider for one charge', async () => {
    const { account, key } = await service.client();
    const id = await submit(service, key, {
      model: 'sandbox-pro',
      resolution: '2K',
      prompt: 'a lake [sandbox:down=sandbox]',
    });
    const record = await settled(service, id);
    expect(record.attempts.map(({ provider, outcome }) => `${provider}: ${outcome ?? ''}`)).toEqual([
      'sandbox: unavailable',
      'sandbox-large: rendered',
    ]);
    expect(record).toMatchObject({
      status: 'completed',
      refundedMicros: 0,
      results: [{ width: 2048, height: 2048 }],
    });
    expect(await movementsOf(service, record)).toEqual(['charge']);
    expect(await service.account(account.id)).toMatchObject({
      availableMicros: openingMicros - 120_000,
      inFlight: 0,
    });
    const { text } = await service.send(`/creations/${id}`, { key });
    // The client's own prompt names a provider here. Nothing else may name one.
    expect(text.replace('[sandbox:down=sandbox]', '')).not.toContain('sandbox-large');
  });
});

describe('the books of every account', () => {
  it('The books balance after all of these creations', async () => {
    expect(await service.audit()).toEqual([]);
  });
});

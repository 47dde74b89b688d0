/** The rate of POST requests decides before any download and any wait, however many requests come at once. */
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { type Answer, type Client, sharedTestService } from '../fixtures/service.ts';
import { everyAnswer } from './every-answer.ts';
import { answering, png, startImageOrigin } from './image-origin.ts';
import { refusalOf, withinOneMinute } from './refusal.ts';

const [service, origin] = await Promise.all([sharedTestService(), startImageOrigin()]);
afterAll(async () => {
  await origin.close();
  await service.end();
});
beforeEach(() => origin.forget());

const limit = 7;
const burst = 30;
const reasonOf = (answer: Answer): unknown => refusalOf(answer).details['reason'];

/** Sends the same request many times at once. */
async function many(
  client: Client,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer[]> {
  return Promise.all(
    Array.from({ length: burst }, () => service.send('/images/generate', { key: client.key, body, headers })),
  );
}

describe('a burst of POST requests above the rate', () => {
  it('The service downloads one source image for each request within the rate, and none for the others', async () => {
    const client = await service.client({ postRate: String(limit), maxConcurrent: '100' });
    const url = origin.at('/crowd', answering(200, png(640, 480)));
    withinOneMinute(service);
    const answers = await many(client, { model: 'sandbox-pro', prompt: 'a pier', image_urls: [url] });
    const refused = answers.filter(({ status }) => status === 429);
    expect(answers.filter(({ status }) => status === 202)).toHaveLength(limit);
    expect(refused.map(reasonOf)).toEqual(Array.from({ length: burst - limit }, () => 'account_rate'));
    expect(origin.asked).toHaveLength(limit);
  });

  it('The service holds one answer for each replay within the rate, and none for the others', async () => {
    const client = await service.client({ postRate: String(limit), maxConcurrent: '100' });
    const body = { model: 'sandbox-sketch', prompt: 'a pier [sandbox:hang]' };
    const headers = { 'idempotency-key': 'held' };
    withinOneMinute(service);
    const first = await service.send('/images/generate', { key: client.key, body, headers });
    expect(first.status).toBe(202);
    const answers = await many(client, body, { ...headers, prefer: 'wait=1' });
    const held = answers.filter(({ headers: answered }) => answered.get('preference-applied') === 'wait=1');
    expect(held).toHaveLength(limit - 1);
    expect(
      held.every(
        ({ status, headers: answered }) => status === 202 && answered.get('idempotent-replayed') === 'true',
      ),
    ).toBe(true);
    expect(answers.filter(({ status }) => status === 429).map(reasonOf)).toEqual(
      Array.from({ length: burst - limit + 1 }, () => 'account_rate'),
    );
    expect((await service.account(client.account.id)).availableMicros).toBe(25_000_000 - 10_000);
  });

  it('A request with source images counts once, so the next request is still accepted', async () => {
    const client = await service.client({ postRate: '3', maxConcurrent: '100' });
    const url = origin.at('/once', answering(200, png(640, 480)));
    const body = { model: 'sandbox-pro', prompt: 'a pier', image_urls: [url] };
    withinOneMinute(service);
    const answers = [];
    for (let request = 0; request < 4; request += 1)
      answers.push(await service.send('/images/generate', { key: client.key, body }));
    expect(answers.map(({ status }) => status)).toEqual([202, 202, 202, 429]);
    expect(origin.asked).toHaveLength(3);
  });

  it('A request whose source image cannot be used counts once', async () => {
    const client = await service.client({ postRate: '2' });
    const body = {
      model: 'sandbox-pro',
      prompt: 'a pier',
      image_urls: [origin.at('/absent', answering(404, ''))],
    };
    withinOneMinute(service);
    const answers = [];
    for (let request = 0; request < 3; request += 1)
      answers.push(await service.send('/images/generate', { key: client.key, body }));
    expect(answers.map(({ status }) => status)).toEqual([502, 502, 429]);
  });
});

everyAnswer(() => service);

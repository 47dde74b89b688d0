/** The fields that only some models honour, from the request to the picture and back, at every door. */
import { afterAll, describe, expect, it } from 'vitest';
import { sharedTestService } from '../fixtures/service.ts';
import { everyAnswer } from './every-answer.ts';
import { settled, submit } from './workflow/creations.ts';

const service = await sharedTestService();
const client = await service.client({ postRate: '1000' });
afterAll(async () => {
  expect(await service.audit()).toEqual([]);
  await service.end();
});

const lake = { model: 'sandbox-standard', prompt: 'an alpine valley', seed: 7 };

async function pictureOf(body: Readonly<Record<string, unknown>>): Promise<string> {
  const creation = await settled(service, await submit(service, client.key, body));
  expect(creation).toMatchObject({ status: 'completed' });
  const shown = await service.send(`/creations/${creation.id}`, { key: client.key });
  const [url = ''] = (shown.body as { result_urls: string[] }).result_urls;
  return Buffer.from(await (await fetch(url)).arrayBuffer()).toString('base64');
}

describe('quality', () => {
  it('It decides the picture of the sandbox, and is shown with the creation', async () => {
    const low = { ...lake, quality: 'low' };
    const id = await submit(service, client.key, low);
    const shown = await service.send(`/creations/${id}`, { key: client.key });
    expect(shown.body).toMatchObject({ quality: 'low', cost: 0.04 });
    const [drafted, usual] = [await pictureOf(low), await pictureOf(lake)];
    expect(drafted.length).toBeLessThan(usual.length / 2);
    expect(await pictureOf({ ...lake, quality: 'auto' })).toBe(usual);
  });

  it('The OpenAI-shaped endpoint honours it, too, and does not call it ignored', async () => {
    const answer = await fetch(`${service.machine.openaiUrl}/images/generations`, {
      method: 'POST',
      headers: { authorization: `Bearer ${client.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...lake, quality: 'low' }),
    });
    const { quality, data } = (await answer.json()) as { quality: string; data: { b64_json: string }[] };
    expect([answer.status, quality, answer.headers.get('x-darkroom-ignored')]).toEqual([200, 'low', null]);
    expect(data[0]?.b64_json).toBe(await pictureOf({ ...lake, quality: 'low' }));
  });
});

describe('negative_prompt', () => {
  it('It decides the picture of the sandbox, and is shown with the creation', async () => {
    const negative = { ...lake, negative_prompt: 'mountains' };
    const id = await submit(service, client.key, negative);
    const shown = await service.send(`/creations/${id}`, { key: client.key });
    expect(shown.body).toMatchObject({ negative_prompt: 'mountains' });
    expect(await pictureOf(negative)).not.toBe(await pictureOf(lake));
    expect(await pictureOf({ ...lake, negative_prompt: 'xyzzy' })).toBe(await pictureOf(lake));
  });
});

everyAnswer(() => service);

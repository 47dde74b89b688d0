/** The fields that only some models honour, from the request to the picture and back, at every door. */
import { afterAll, describe, expect, it } from 'vitest';
import { isTransparent } from '../../service/render/pixels/transparency.ts';
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

describe('background', () => {
  const cut = { ...lake, background: 'transparent' };
  const isCutOut = async (base64: string): Promise<boolean> =>
    isTransparent(Buffer.from(base64, 'base64'), { signal: new AbortController().signal, mostBytes: 1e8 });

  it('transparent gives a picture with a see-through background, in PNG without being asked', async () => {
    const id = await submit(service, client.key, { ...cut, model: 'sandbox-pro' });
    expect(await settled(service, id)).toMatchObject({ status: 'completed', outputFormat: 'png' });
    expect([await isCutOut(await pictureOf(cut)), await isCutOut(await pictureOf(lake))]).toEqual([
      true,
      false,
    ]);
  });

  it('A provider that ignores the field is followed by the next one', async () => {
    const prompt = 'an alpine valley [sandbox:ignore=sandbox]';
    const id = await submit(service, client.key, { ...cut, model: 'sandbox-pro', resolution: '2K', prompt });
    expect(await settled(service, id)).toMatchObject({
      status: 'completed',
      attempts: [
        { provider: 'sandbox', outcome: 'not_honoured' },
        { provider: 'sandbox-large', outcome: 'rendered' },
      ],
    });
  });

  it('Without a next one the creation fails with message 4, and the charge is refunded in full', async () => {
    const id = await submit(service, client.key, { ...cut, prompt: 'a valley [sandbox:ignore]' });
    expect(await settled(service, id)).toMatchObject({ status: 'failed', failure: 'NothingRendered' });
    const shown = await service.send(`/creations/${id}`, { key: client.key });
    expect(shown.body).toMatchObject({ amount_refunded: 0.04, error_code: 'nothing_rendered' });
  });

  it('The OpenAI-shaped endpoint takes it, and tells it', async () => {
    const answer = await fetch(`${service.machine.openaiUrl}/images/generations`, {
      method: 'POST',
      headers: { authorization: `Bearer ${client.key}`, 'content-type': 'application/json' },
      body: JSON.stringify(cut),
    });
    const { background, data } = (await answer.json()) as {
      background: string;
      data: { b64_json: string }[];
    };
    expect([answer.status, background, await isCutOut(data[0]?.b64_json ?? '')]).toEqual([
      200,
      'transparent',
      true,
    ]);
  });
});

everyAnswer(() => service);

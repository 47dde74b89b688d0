/** The fields that only some models honour, from the request to the picture and back, at every door. */
import { afterAll, describe, expect, it } from 'vitest';
import { getItem } from '../../service/aws/dynamodb/send.ts';
import { keys } from '../../service/aws/dynamodb/table.ts';
import { changeWhereProtected } from '../../service/render/pixels/mask.ts';
import { isTransparent } from '../../service/render/pixels/transparency.ts';
import { png } from '../render/png-writer.ts';
import { sharedTestService } from '../fixtures/service.ts';
import { everyAnswer } from './every-answer.ts';
import { answering, startImageOrigin } from './image-origin.ts';
import { fieldsOf } from './refusal.ts';
import { settled, submit } from './workflow/creations.ts';

const [service, origin] = await Promise.all([sharedTestService(), startImageOrigin()]);
const client = await service.client({ postRate: '1000' });
afterAll(async () => {
  expect(await service.audit()).toEqual([]);
  await origin.close();
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

describe('mask_url', () => {
  const size = { width: 288, height: 192 };
  const picture = (samples: (x: number, y: number) => number[], colour: number): Buffer =>
    png({
      depth: 8,
      colour,
      size,
      rows: Array.from({ length: size.height }, (_, y) =>
        Array.from({ length: size.width }, (__, x) => samples(x, y)).flat(),
      ),
    });
  const isLeft = (x: number): boolean => x < size.width / 2;
  const source = picture((x, y) => [x % 256, y, (x + y) % 256], 2);
  /** The left half is protected, and in the other mask the right one. */
  const mask = picture((x) => [0, 0, 0, isLeft(x) ? 255 : 0], 6);
  const other = picture((x) => [isLeft(x) ? 255 : 0], 0);
  interface Announced {
    readonly id: string;
    readonly image_url: string;
    readonly upload_url: string;
    readonly upload_headers: Record<string, string>;
  }
  const limits = { signal: new AbortController().signal, mostBytes: 1e8 };
  const masked = {
    ...lake,
    image_urls: [origin.at('/source.png', answering(200, source))],
    mask_url: origin.at('/mask.png', answering(200, mask)),
  };
  const changes = async (body: Readonly<Record<string, unknown>>): Promise<boolean[]> => {
    const rendered = Buffer.from(await pictureOf(body), 'base64');
    const change = (one: Uint8Array): Promise<number> =>
      changeWhereProtected({ picture: rendered, source, mask: one }, limits);
    return [(await change(mask)) > 2, (await change(other)) > 2];
  };

  it('The picture has the ratio of the source, keeps what is protected, and is new elsewhere', async () => {
    const id = await submit(service, client.key, masked);
    expect(await settled(service, id)).toMatchObject({
      status: 'completed',
      aspectRatio: '3:2',
      costMicros: 45_000,
      sources: [{ width: 288 }],
      mask: { width: 288, contentType: 'image/png' },
    });
    const shown = await service.send(`/creations/${id}`, { key: client.key });
    expect(shown.text).not.toMatch(/mask|sources\//);
    expect(await changes(masked)).toEqual([false, true]);
    expect(
      await changes({
        ...masked,
        output_format: 'jpeg',
        mask_url: origin.at('/b.png', answering(200, other)),
      }),
    ).toEqual([true, false]);
  });

  it('A mask may be an upload, which then counts as used', async () => {
    const announced = await service.send('/uploads', {
      key: client.key,
      body: { content_type: 'image/png', bytes: mask.length },
    });
    const { id, image_url, upload_url, upload_headers } = announced.body as Announced;
    await fetch(upload_url, { method: 'PUT', body: mask, headers: upload_headers });
    const creation = await submit(service, client.key, { ...masked, mask_url: image_url });
    expect(await settled(service, creation)).toMatchObject({
      status: 'completed',
      mask: { bytes: mask.length, contentType: 'image/png' },
    });
    const item = await getItem(service.operator.table, keys.unusedUploads(client.account.id));
    expect([...((item?.['unused'] ?? []) as Iterable<string>)]).not.toContain(id);
  });

  it('Without a next one the creation fails with message 4, and the charge is refunded in full', async () => {
    const id = await submit(service, client.key, { ...masked, prompt: 'a valley [sandbox:ignore]' });
    expect(await settled(service, id)).toMatchObject({ status: 'failed', failure: 'NothingRendered' });
    const shown = await service.send(`/creations/${id}`, { key: client.key });
    expect(shown.body).toMatchObject({ amount_refunded: 0.045, error_code: 'nothing_rendered' });
  });

  it.each(['form', 'JSON'])('The OpenAI-shaped endpoint takes it in a %s', async (kind) => {
    const text = { model: 'sandbox-standard', prompt: lake.prompt, response_format: 'b64_json' };
    const form = new FormData();
    for (const [name, value] of Object.entries(text)) form.append(name, value);
    form.append('image', new Blob([source], { type: 'image/png' }), 'a.png');
    form.append('mask', new Blob([mask], { type: 'image/png' }), 'mask.png');
    const addressOf = (bytes: Buffer) => ({
      image_url: `data:image/png;base64,${bytes.toString('base64')}`,
    });
    const json = JSON.stringify({ ...text, images: [addressOf(source)], mask: addressOf(mask) });
    const answer = await fetch(`${service.machine.openaiUrl}/images/edits`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${client.key}`,
        ...(kind === 'JSON' && { 'content-type': 'application/json' }),
      },
      body: kind === 'JSON' ? json : form,
    });
    const { data } = (await answer.json()) as { data: { b64_json: string }[] };
    expect([answer.status, answer.headers.get('x-darkroom-ignored')]).toEqual([200, null]);
    const rendered = Buffer.from(data[0]?.b64_json ?? '', 'base64');
    const change = (one: Uint8Array): Promise<number> =>
      changeWhereProtected({ picture: rendered, source, mask: one }, limits);
    expect([(await change(mask)) > 2, (await change(other)) > 2]).toEqual([false, true]);
  });

  it('A mask of another size, or for another ratio, is refused, and nothing is charged', async () => {
    const before = (await service.account(client.account.id)).availableMicros;
    const send = async (change: object): Promise<string[]> =>
      fieldsOf(await service.send('/images/generate', { key: client.key, body: { ...masked, ...change } }));
    const small = png({
      depth: 8,
      colour: 0,
      rows: Array.from({ length: 64 }, () => Array.from({ length: 64 }, () => 0)),
      size: { width: 64, height: 64 },
    });
    expect([
      await send({ mask_url: origin.at('/small.png', answering(200, small)) }),
      await send({ aspect_ratio: '1:1' }),
    ]).toEqual([['mask_url: invalid_size'], ['aspect_ratio: invalid_value']]);
    expect((await service.account(client.account.id)).availableMicros).toBe(before);
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

  it('The OpenAI-shaped endpoint takes it, and returns it', async () => {
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

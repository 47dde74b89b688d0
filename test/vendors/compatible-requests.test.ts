/** What the compatible adapter sends to servers of each style, and what their fakes refuse. */
import { afterAll, describe, expect, it } from 'vitest';
import { rulesOf } from '../../lab/vendors/fakes/compatible/server.ts';
import type { FakeStyle } from '../../lab/vendors/fakes/compatible/rules.ts';
import { formOf } from '../../lab/vendors/fakes/openai/server.ts';
import { pictureOf } from '../../lab/vendors/fakes/fake-vendor.ts';
import type { Style } from '../../service/catalog/providers.ts';
import { systemClock } from '../../service/aws/clock.ts';
import { createCompatible } from '../../service/vendors/compatible/provider.ts';
import { requestOf } from '../../service/vendors/compatible/request.ts';
import { styles } from '../../service/vendors/compatible/styles.ts';
import type { RenderJob } from '../../service/vendors/provider.ts';
import { never, startAnsweringVendor } from './answering-vendor.ts';
import { fakeStyles, prompt, startStages } from './compatible-stage.ts';
import { jobsLike, lastReceived, noCredential, outcomeOf } from './vendor-talk.ts';

const [stages, vendor] = await Promise.all([startStages(), startAnsweringVendor()]);
afterAll(async () => Promise.all([stages.stop(), vendor.stop()]));

interface Requests {
  /** A request with nothing and with everything, as the server gets it. */
  readonly least: object;
  readonly most: object;
  readonly size: unknown;
}
const requestsWith = (
  always: object,
  least: object,
  most: object,
  ...size: readonly unknown[]
): Requests => ({
  least: { prompt, n: 1, ...always, ...least },
  most: { prompt, n: 1, ...always, ...most },
  size,
});
const [small, large] = [{ size: '1024x1024' }, { size: '2736x1536' }];
const inline = { response_format: 'b64_json' };
const qwen = { model: 'Qwen/Qwen-Image', ...inline };
const png = { output_format: 'png' };
const requests: Readonly<Record<FakeStyle, Requests>> = {
  'vllm-omni': requestsWith(qwen, small, { ...large, seed: 7 }, 'png', 2736, 1536),
  sglang: requestsWith({ ...qwen, ...png }, small, { ...large, seed: 7 }, 'png', 2736, 1536),
  localai: requestsWith(qwen, small, { ...large, seed: 7 }, 'png', 2736, 1536),
  litellm: requestsWith({ model: 'my-image-model', quality: 'low', ...png }, small, large, 'png', 2736, 1536),
  xai: requestsWith(
    { model: 'grok-imagine-image-2.0', quality: 'low', ...inline },
    { aspect_ratio: '1:1', resolution: '1k' },
    { aspect_ratio: '16:9', resolution: '2k' },
    ...['jpeg', 2688, 1536],
  ),
  recraft: requestsWith(
    { model: 'recraftv4_1_flash', image_format: 'png', ...inline },
    { size: '1:1' },
    { size: '16:9' },
    ...['png', 1344, 768],
  ),
  ark: requestsWith(
    { n: undefined, model: 'seedream-4-5-251128', watermark: false, ...inline },
    { size: '2048x2048' },
    { size: '2848x1600' },
    ...['jpeg', 2848, 1600],
  ),
};

describe('A request to a server', () => {
  it.each(fakeStyles)('%s gets the fields of its style and no others', async (style) => {
    const { talk, aJob, fake, key, painted } = stages.of(style);
    expect(outcomeOf(await talk.answerTo(aJob()))).toBe('rendered');
    expect(lastReceived(fake).json).toEqual(requests[style].least);
    const most = { seed: 7, resolution: '2K', aspectRatio: '16:9' } as const;
    expect(outcomeOf(await talk.answerTo(aJob(most)))).toBe('rendered');
    expect(painted.at(-1)).toEqual(requests[style].size);
    const { method, path, headers, json } = lastReceived(fake);
    expect(json).toEqual(requests[style].most);
    expect([method, path, headers['authorization']]).toEqual([
      'POST',
      styles[style].generationsPath,
      key === null ? undefined : `Bearer ${key}`,
    ]);
  });

  it.each(fakeStyles.filter((style) => styles[style].edits === 'multipart'))(
    '%s gets source images as parts of a form',
    async (style) => {
      const { talk, aJob, fake } = stages.of(style);
      expect(outcomeOf(await talk.answerTo(aJob({ sourceCount: 2 })))).toBe('rendered');
      const { fields, files } = formOf(lastReceived(fake));
      expect(lastReceived(fake).path).toBe('/v1/images/edits');
      expect(fields).toEqual(
        Object.fromEntries(
          Object.entries(requests[style].least).map(([name, value]) => [name, String(value)]),
        ),
      );
      const field = styles[style].sourceField;
      expect(files).toEqual([
        { field, name: 'image-1.png', type: 'image/png', bytes: pictureOf('png', 96, 64) },
        { field, name: 'image-2.jpeg', type: 'image/jpeg', bytes: pictureOf('jpeg', 96, 64) },
      ]);
    },
  );

  it('A server whose style names a part for the mask gets it beside the source images', async () => {
    const mask = { contentType: 'image/png', width: 96, height: 64, bytes: pictureOf('png', 96, 64) };
    const job = stages.of('sglang').aJob({ sourceCount: 1, readMask: async () => Promise.resolve(mask) });
    const { body } = await requestOf({ ...styles.sglang, mask: 'mask' }, job);
    if (!(body instanceof FormData)) throw new Error('no form');
    const sent = body.get('mask');
    if (!(sent instanceof File)) throw new Error('no file');
    expect([sent.name, sent.type, Buffer.from(await sent.arrayBuffer())]).toEqual([
      'mask.png',
      'image/png',
      mask.bytes,
    ]);
    expect(body.getAll(styles.sglang.sourceField)).toHaveLength(1);
  });

  it('A style that names no part for the mask, or has no form, sends none', () => {
    const sends = (change: object) =>
      createCompatible({
        name: 'gpu',
        baseUrl: 'http://127.0.0.1:1',
        credentials: { read: async () => Promise.resolve('key'), forget: () => undefined },
        clock: systemClock,
        style: { ...styles.sglang, ...change },
      }).sends?.includes('mask');
    expect([sends({}), sends({ mask: 'mask' }), sends({ mask: 'mask', edits: 'base64' })]).toEqual([
      false,
      true,
      false,
    ]);
    expect(Object.values(styles).filter(({ mask }) => mask !== null)).toEqual([]);
  });

  const [first, second] = [pictureOf('png', 96, 64), pictureOf('jpeg', 96, 64)].map((bytes) =>
    bytes.toString('base64'),
  );
  const [pngUri, jpegUri] = [`data:image/png;base64,${first}`, `data:image/jpeg;base64,${second}`];
  const typed = (url: string): object => ({ type: 'image_url', url });
  it.each<[FakeStyle, number, string, object]>([
    ['ark', 1, '/api/v3/images/generations', { image: [pngUri] }],
    ['ark', 2, '/api/v3/images/generations', { image: [pngUri, jpegUri] }],
    ['localai', 2, '/v1/images/generations', { ref_images: [first, second] }],
    ['xai', 1, '/v1/images/edits', { image: typed(pngUri) }],
    ['xai', 2, '/v1/images/edits', { images: [typed(pngUri), typed(jpegUri)] }],
  ])('%s gets %i source images as JSON to %s', async (style, sourceCount, path, more) => {
    const { talk, aJob, fake } = stages.of(style);
    expect(outcomeOf(await talk.answerTo(aJob({ sourceCount })))).toBe('rendered');
    expect(lastReceived(fake).path).toBe(path);
    expect(lastReceived(fake).json).toEqual({ ...requests[style].least, ...more });
  });

  it('The tier and the ratio go into one request for a server that takes them so', async () => {
    vendor.answerWith({ status: 429 });
    await ask(
      { ...styles.openai, size: 'tier', quality: 'named' },
      { resolution: '4K', aspectRatio: '21:9' },
    );
    expect(lastReceived(vendor).json).toEqual({
      n: 1,
      model: 'model',
      prompt,
      size: '4K',
      aspect_ratio: '21:9',
      output_format: 'png',
    });
  });

  it('Without a key no call is made, and a server without keys gets none', async () => {
    const { talk, aJob, fake } = stages.of('xai');
    const before = fake.received.length;
    expect(await talk.answerTo(aJob(), { credential: undefined })).toEqual(noCredential);
    expect(fake.received).toHaveLength(before);
    const keyless = stages.of('sglang');
    expect(outcomeOf(await keyless.talk.answerTo(keyless.aJob(), { credential: undefined }))).toBe(
      'rendered',
    );
  });

  it('A ratio that Seedream does not have, and a source image that a server does not take, are our defects', async () => {
    const { talk, aJob } = stages.of('ark');
    await expect(talk.answerTo(aJob({ aspectRatio: '5:4' }))).rejects.toThrow('Seedream renders no 5:4');
    const recraft = stages.of('recraft');
    await expect(recraft.talk.answerTo(recraft.aJob({ sourceCount: 1 }))).rejects.toThrow(
      'without source images',
    );
  });
});

/** Sends a job in a style to the vendor that gives one answer. */
async function ask(style: Style, change: Partial<RenderJob> = {}): Promise<unknown> {
  const job = jobsLike({ providerModel: 'model', prompt })(change);
  return createCompatible({ ...vendor.settings, baseUrl: vendor.url, style }).submit(job, never);
}

describe('The fake of a server', () => {
  it.each<[FakeStyle, string, object, number]>([
    ['xai', 'a size', { size: '1024x1024' }, 400],
    ['xai', 'a seed', { seed: 7 }, 400],
    ['xai', 'a resolution of 4k', { resolution: '4k' }, 400],
    ['xai', 'another model', { model: 'grok-2-image' }, 400],
    ['xai', 'a quality for the model without qualities', { model: 'grok-imagine-image' }, 400],
    ['xai', 'a source image that is no object', { image: 'data:image/png;base64,AAAA' }, 404],
    ['recraft', 'a size in pixels that it does not have', { size: '2736x1536' }, 400],
    ['recraft', '21:9', { size: '21:9' }, 400],
    ['recraft', 'JPEG', { image_format: 'jpeg' }, 400],
    ['recraft', 'a prompt that is too long', { prompt: 'x'.repeat(10_001) }, 400],
    ['ark', 'too few pixels', { size: '1024x1024' }, 400],
    ['ark', 'too many pixels for pro', { model: 'dola-seedream-5-0-pro-260628', size: '4096x4096' }, 400],
    ['ark', 'a stream for pro', { model: 'dola-seedream-5-0-pro-260628', stream: false }, 400],
    ['ark', 'a source image that is no picture', { image: ['data:image/png;base64,AAAA'] }, 400],
    ['ark', 'a seed', { seed: 7 }, 400],
    ['vllm-omni', 'an answer by address', { response_format: 'url' }, 400],
    ['vllm-omni', 'a size without a height', { size: '1024x' }, 400],
    ['vllm-omni', 'an empty prompt', { prompt: '' }, 400],
    ['vllm-omni', 'another model', { model: 'other' }, 400],
    ['sglang', 'a format that it does not have', { output_format: 'svg' }, 400],
    ['litellm', 'a field that the model does not have', { seed: 7 }, 400],
    ['localai', 'a source image that is no base64', { ref_images: ['data:image/png;base64,AAAA'] }, 400],
  ])('The fake of %s refuses %s', async (style, _what, change, status) => {
    const { fake, key } = stages.of(style);
    const response = await fetch(`${fake.url}${styles[style].generationsPath}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(key !== null && { authorization: `Bearer ${key}` }),
      },
      body: JSON.stringify({ ...requests[style].least, ...change }),
    });
    expect(response.status).toBe(status);
  });

  it.each(fakeStyles)('The fake of %s refuses another path', async (style) => {
    const { fake, key } = stages.of(style);
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${key ?? ''}` };
    const init = { method: 'POST', headers, body: JSON.stringify(requests[style].least) };
    expect((await fetch(`${fake.url}/v1/images/variations`, init)).status).toBe(404);
  });

  it.each(fakeStyles.filter((style) => rulesOf[style].key !== null))(
    'The fake of %s refuses another key',
    async (style) => {
      const { talk, aJob } = stages.of(style);
      const { answer, forgotten } = await talk.speak(aJob(), { credential: 'wrong' });
      expect([outcomeOf(answer), forgotten]).toEqual(['credentials', [style]]);
    },
  );
});

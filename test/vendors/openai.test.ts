import { afterAll, describe, expect, it } from 'vitest';
import { pictureOf, startFakeVendor } from '../../lab/vendors/fakes/fake-vendor.ts';
import { fakeOpenaiKey, formOf, startFakeOpenai } from '../../lab/vendors/fakes/openai/server.ts';
import { outputFormats } from '../../service/contract/request-fields.ts';
import { openaiSizes } from '../../service/vendors/openai-sizes.ts';
import { checkOpenai, createOpenai } from '../../service/vendors/openai.ts';
import { everySize, headed, headerOf, jobsLike, lastReceived, talkTo } from './vendor-talk.ts';
import type { ProviderAnswer } from '../../service/vendors/provider.ts';
import { never, refused, startAnsweringVendor } from './answering-vendor.ts';

const prompt = 'A lighthouse that nobody may read about';

const fake = await startFakeOpenai(headed);
afterAll(() => fake.stop());

const { settings, answerTo } = talkTo({ name: 'openai', create: createOpenai, fake, key: fakeOpenaiKey });
const aJob = jobsLike({ providerModel: 'gpt-image-2', prompt, seed: 7 });

describe('An answer of OpenAI', () => {
  it.each(outputFormats)('The picture has the requested size as %s', async (outputFormat) => {
    const answer = await answerTo(aJob({ outputFormat, aspectRatio: '16:9' }));
    expect(headerOf(answer)).toEqual({ contentType: `image/${outputFormat}`, width: 1360, height: 768 });
  });
});

describe('The qualities of the models of OpenAI', () => {
  it.each([
    ['gpt-image-2.5-flare', 'xhigh'],
    ['gpt-image-2.5-flare', 'max'],
    ['gpt-image-2.5-sunburst', 'xhigh'],
    ['gpt-image-2.5-sunburst', 'max'],
    ['gpt-image-2.5-sunburst', 'low'],
    ['gpt-image-2.6-flare', 'low'],
    ['gpt-image-2.6-flare', 'high'],
    ['gpt-image-2.6-sunburst', 'high'],
  ])('%s renders in the quality %s', async (providerModel, quality) => {
    const answer = await answerTo(aJob({ providerModel, quality, resolution: '4K' }));
    expect(headerOf(answer)).toMatchObject({ width: 2880, height: 2880 });
    expect(lastReceived(fake).json).toMatchObject({ model: providerModel, quality, size: '2880x2880' });
  });

  it.each([
    ['gpt-image-2', 'xhigh'],
    ['gpt-image-2', 'max'],
    ['gpt-image-2.5-flare', 'ultra'],
    ['gpt-image-2.6-flare', 'ultra'],
    ['gpt-image-1', 'medium'],
  ])('The vendor refuses %s in the quality %s', async (providerModel, quality) => {
    expect(await answerTo(aJob({ providerModel, quality }))).toMatchObject({
      kind: 'refused',
      detail: 'HTTP 400 invalid_value',
    });
  });
});

describe('A request to OpenAI', () => {
  it('A request asks for one picture in the quality of the route, or in medium quality', async () => {
    await answerTo(
      aJob({
        prompt: 'A cat [row:throttled]',
        quality: 'high',
        resolution: '2K',
        aspectRatio: '16:9',
        outputFormat: 'webp',
      }),
    );
    const { method, path, headers, json } = lastReceived(fake);
    expect([method, path, headers['authorization'], headers['content-type']]).toEqual([
      'POST',
      '/v1/images/generations',
      `Bearer ${fakeOpenaiKey}`,
      'application/json',
    ]);
    expect(json).toEqual({
      model: 'gpt-image-2',
      prompt: 'A cat [row:throttled]',
      n: 1,
      size: '2736x1536',
      quality: 'high',
      output_format: 'webp',
    });
    await answerTo(aJob({ prompt: 'A cat [row:throttled]' }));
    expect(lastReceived(fake).json).toMatchObject({
      size: '1024x1024',
      quality: 'medium',
      output_format: 'png',
    });
  });

  it('A request with source images is a form, and each image is an image[] with the type of its bytes', async () => {
    await answerTo(aJob({ quality: 'low', resolution: '4K', sourceCount: 2 }));
    expect(lastReceived(fake).path).toBe('/v1/images/edits');
    const { fields, files } = formOf(lastReceived(fake));
    expect(fields).toEqual({
      model: 'gpt-image-2',
      prompt,
      n: '1',
      size: '2880x2880',
      quality: 'low',
      output_format: 'png',
    });
    expect(files).toEqual([
      { field: 'image[]', name: 'image-1.png', type: 'image/png', bytes: pictureOf('png', 96, 64) },
      { field: 'image[]', name: 'image-2.jpeg', type: 'image/jpeg', bytes: pictureOf('jpeg', 96, 64) },
    ]);
  });

  it.each(everySize)(
    'OpenAI accepts the size for $aspectRatio at $resolution',
    async ({ resolution, aspectRatio }) => {
      // The fake checks every field before it answers that it is throttled.
      expect(
        await answerTo(aJob({ prompt: 'A cat [row:throttled]', resolution, aspectRatio })),
      ).toMatchObject({ reason: 'unavailable' });
      const [width = 0, height = 1] = openaiSizes[resolution][aspectRatio].split('x').map(Number);
      const [across = 0, down = 1] = aspectRatio.split(':').map(Number);
      expect(Math.abs(width / height / (across / down) - 1)).toBeLessThan(0.02);
    },
  );
});

describe('The fake of OpenAI', () => {
  const good = { model: 'gpt-image-2', prompt: 'A cat', size: '1024x1024' };
  const key = { authorization: `Bearer ${fakeOpenaiKey}` };
  const send = async (
    path: string,
    headers: Record<string, string>,
    body: object | FormData,
    method = 'POST',
  ): Promise<unknown[]> => {
    const isThumbnail = body instanceof FormData;
    const response = await fetch(`${fake.url}${path}`, {
      method,
      headers: { ...(!isThumbnail && { 'content-type': 'application/json' }), ...headers },
      ...(method !== 'GET' && { body: isThumbnail ? body : JSON.stringify(body) }),
    });
    const { error } = (await response.json()) as { error?: { code?: string; param?: string } };
    return [response.status, error?.code, error?.param];
  };
  const formWith = (field: string, bytes: Uint8Array, type: string): FormData => {
    const form = new FormData();
    for (const [name, value] of Object.entries(good)) form.append(name, value);
    form.append(field, new Blob([Uint8Array.from(bytes)], { type }), 'a.png');
    return form;
  };

  const generations = '/v1/images/generations';
  type Sent = readonly [path: string, headers: Record<string, string>, body: object, refused: unknown[]];
  /** A good request with this change, whose field is refused. */
  const wrong = (change: object, code: string, field: string): Sent => [
    generations,
    key,
    { ...good, ...change },
    [400, code, field],
  ];
  /** A form with one file, which is refused. */
  const wrongForm = (field: string, type: string, ...error: readonly string[]): Sent => [
    '/v1/images/edits',
    key,
    formWith(field, pictureOf('png', 8, 8), type),
    [400, ...error],
  ];

  it.each<[string, ...Sent, string?]>([
    ['a call without a key', generations, {}, good, [401, null, null]],
    ['another key', generations, { authorization: 'Bearer other' }, good, [401, 'invalid_api_key', null]],
    ['another path', '/v1/images/variations', key, good, [404, null, null]],
    ['another method', generations, key, good, [405, 'method_not_supported', null], 'GET'],
    ['another content type', '/v1/images/edits', key, good, [400, 'unsupported_content_type', null]],
    ['an unknown field', ...wrong({ response_format: 'url' }, 'unknown_parameter', 'response_format')],
    ['a missing prompt', ...wrong({ prompt: '' }, 'missing_required_parameter', 'prompt')],
    ['a long prompt', ...wrong({ prompt: 'x'.repeat(32_001) }, 'string_above_max_length', 'prompt')],
    ['an edge that is no multiple of 16', ...wrong({ size: '1000x1000' }, 'invalid_value', 'size')],
    ['an edge above 3840', ...wrong({ size: '4096x2048' }, 'invalid_value', 'size')],
    ['a ratio above 3', ...wrong({ size: '3072x512' }, 'invalid_value', 'size')],
    ['too few pixels', ...wrong({ size: '512x512' }, 'invalid_value', 'size')],
    ['a quality it does not have', ...wrong({ quality: 'hd' }, 'invalid_value', 'quality')],
    ['another model', ...wrong({ model: 'dall-e-3' }, 'invalid_value', 'model')],
    ['a form without an image', ...wrongForm('mask[]', 'image/png', 'unknown_parameter', 'mask[]')],
    ['another type than it says', ...wrongForm('image[]', 'image/jpeg', 'invalid_image_file', 'image')],
  ])('The fake refuses %s', async (_, path, headers, body, expected, method) => {
    expect(await send(path, headers, body, method)).toEqual(expected);
  });
});

describe("The check of OpenAI's key", () => {
  const check = async (credential: string | undefined, baseUrl = fake.url): Promise<unknown> =>
    checkOpenai(settings({ credential, baseUrl }), never);

  it.each([
    [403, { verdict: 'unchecked', detail: 'HTTP 403: the key may not list models' }],
    [500, { verdict: 'unreachable', detail: 'HTTP 500' }],
  ])('The check that is answered with %i tells the status', async (status, expected) => {
    const other = await startFakeVendor(() => ({ status, body: {} }));
    expect(await check(fakeOpenaiKey, other.url)).toEqual(expected);
    await other.stop();
    expect(await check(fakeOpenaiKey, other.url)).toEqual({ verdict: 'unreachable', detail: 'ECONNREFUSED' });
  });
});

const vendor = await startAnsweringVendor();
afterAll(() => vendor.stop());
const plainJob = jobsLike({ providerModel: 'model', outputFormat: 'jpeg' });

describe('An answer of OpenAI', () => {
  const answerTo = (body: object, status = 400): Promise<ProviderAnswer> => {
    vendor.answerWith({ status, body });
    return createOpenai(vendor.settings).submit(plainJob(), never);
  };

  it.each<[object, string]>([
    [{ param: 'image' }, 'source_image'],
    [{ param: 'image[0]' }, 'source_image'],
    [{ param: 'images_total' }, 'unknown_answer'],
    [{ param: 'mask_image' }, 'unknown_answer'],
    [{ param: 'prompt', message: 'Invalid image file' }, 'unknown_answer'],
    [{ message: 'Invalid image file or mode' }, 'source_image'],
    [{ message: "Invalid file 'image': unsupported" }, 'source_image'],
    [{ param: '', message: 'Invalid image file' }, 'source_image'],
    [{ message: 'Not an Invalid image file' }, 'unknown_answer'],
    [{ code: 'new_code', message: 'Invalid image file' }, 'unknown_answer'],
    [{ code: 'moderation_blocked', param: 'image' }, 'source_image'],
    [{ code: 'insufficient_quota', param: 'image' }, 'credentials'],
  ])('The error %j of OpenAI is refused as %s', async (error, reason) => {
    expect(await answerTo({ error })).toMatchObject({ kind: 'refused', reason });
  });

  it.each<[object, string]>([
    [{ data: [] }, 'nothing_rendered'],
    [{ data: [{ b64_json: '' }] }, 'nothing_rendered'],
    [{ data: [{ b64_json: 7 }] }, 'unknown_answer'],
    [{ data: [{}] }, 'unknown_answer'],
    [{ data: {} }, 'unknown_answer'],
    [{}, 'unknown_answer'],
  ])('The answer %j of OpenAI is refused as %s', async (body, reason) => {
    expect(await answerTo(body, 200)).toEqual(refused(reason, 'HTTP 200'));
  });

  it('OpenAI gets an empty prompt when the job has none', async () => {
    vendor.answerWith({ status: 429 });
    await createOpenai(vendor.settings).submit(plainJob({ prompt: null }), never);
    expect(vendor.received.at(-1)?.json).toMatchObject({ prompt: '' });
  });
});

import { afterAll, describe, expect, it } from 'vitest';
import { startFakeBfl } from '../../lab/vendors/fakes/bfl/server.ts';
import { pictureOf } from '../../lab/vendors/fakes/fake-vendor.ts';
import { aspectRatios } from '../../service/contract/request-fields.ts';
import { checkBfl, createBfl } from '../../service/vendors/bfl.ts';
import { fluxPixelsOf } from '../../service/vendors/flux-pixels.ts';
import { closedUrl, headed, headerOf, jobsLike, received, talkTo } from './vendor-talk.ts';
import type { ProviderAnswer } from '../../service/vendors/provider.ts';
import { never, refused, startAnsweringVendor } from './answering-vendor.ts';

const key = 'fake-bfl-key';

const fake = await startFakeBfl(headed);
afterAll(() => fake.stop());

const { settings, speak } = talkTo({ name: 'bfl', create: createBfl, fake, key });
const aJob = jobsLike({ providerModel: 'flux-2-pro' });

describe('Each answer of the vendor', () => {
  it('An answer that blames a source image blames the prompt when there is no source image', async () => {
    expect((await speak(aJob({ prompt: '[row:source-moderated]' }))).answer).toMatchObject({
      reason: 'prompt',
    });
  });
});

describe('A request', () => {
  it('A request carries the key, the prompt, the pixels and the format, and nothing else', async () => {
    const [submitted, polled, , , downloaded] = await received(fake, () =>
      speak(aJob({ aspectRatio: '16:9', resolution: '2K', outputFormat: 'jpeg', seed: 7 })),
    );
    expect(submitted).toMatchObject({
      method: 'POST',
      path: '/v1/flux-2-pro',
      headers: { 'x-key': key, 'content-type': 'application/json' },
    });
    expect(submitted?.json).toEqual({
      prompt: 'a cat',
      width: 2048,
      height: 1152,
      seed: 7,
      safety_tolerance: 2,
      output_format: 'jpeg',
    });
    expect(polled).toMatchObject({
      method: 'GET',
      path: expect.stringMatching(/^\/v1\/get_result\?id=/) as string,
      headers: { 'x-key': key },
    });
    expect(downloaded?.path).toMatch(/^\/results\//);
    expect(downloaded?.headers['x-key']).toBeUndefined();
  });

  it.each([
    ['flux-2-flex', 8, '2K', '16:9', 2048, 1152],
    ['flux-2-klein-9b', 4, '2K', '1:1', 2000, 2000],
  ] as const)(
    '%s renders with %i source images at %s in %s',
    async (providerModel, sourceCount, resolution, aspectRatio, width, height) => {
      const [submitted] = await received(fake, async () => {
        const { answer } = await speak(aJob({ providerModel, sourceCount, resolution, aspectRatio }));
        expect(headerOf(answer)).toMatchObject({ width, height });
      });
      expect(submitted?.path).toBe(`/v1/${providerModel}`);
      expect(submitted?.json).toMatchObject({ width, height });
    },
  );

  it('A request carries the source images in order as base64', async () => {
    const [submitted] = await received(fake, () =>
      speak(
        aJob({ providerModel: 'flux-2-klein-4b', sourceCount: 3, outputFormat: 'webp', aspectRatio: '21:9' }),
      ),
    );
    const png = pictureOf('png', 96, 64).toString('base64');
    const jpeg = pictureOf('jpeg', 96, 64).toString('base64');
    expect(submitted?.path).toBe('/v1/flux-2-klein-4b');
    expect(submitted?.json).toMatchObject({
      width: 1536,
      height: 656,
      output_format: 'webp',
      input_image: png,
      input_image_2: jpeg,
      input_image_3: png,
    });
    expect(submitted?.json).not.toHaveProperty('input_image_4');
  });

  it.each(['1K', '2K'] as const)(
    'At %s every ratio is within the limits of all FLUX.2 vendors',
    (resolution) => {
      for (const ratio of aspectRatios) {
        const { width, height } = fluxPixelsOf(resolution, ratio);
        const [across = 1, down = 1] = ratio.split(':').map(Number);
        expect([width % 16, height % 16]).toEqual([0, 0]);
        expect(Math.max(width, height)).toBeLessThanOrEqual(2048);
        expect(width * height).toBeLessThanOrEqual(resolution === '1K' ? 1024 * 1024 : 4_000_000);
        expect(Math.abs((width * down) / (height * across) - 1)).toBeLessThan(0.01);
      }
    },
  );

  it('A request for 4K throws, because the catalog has no such route', async () => {
    await expect(speak(aJob({ resolution: '4K' }))).rejects.toThrow('FLUX.2 renders no 4K');
  });
});

describe('An accepted job', () => {
  it.each(['poll-broke', 'poll-throttled', 'poll-down'])(
    'After a failed poll (%s), a job is not polled for 5 s',
    async (row) => {
      expect((await speak(aJob({ prompt: `[row:${row}]` }))).waits.slice(0, 3)).toEqual([500, 5_000, 1_000]);
    },
  );

  it('A job with a polling address at another host is not polled', async () => {
    expect((await speak(aJob({ prompt: '[row:foreign-polling-url]' }))).waits).toEqual([]);
  });

  it('A job is never submitted twice', async () => {
    const before = fake.jobs();
    await speak(aJob({ prompt: '[row:poll-broke]' }));
    await speak(aJob({ prompt: '[row:download-broke]' }));
    expect(fake.jobs() - before).toBe(2);
  });

  it('A job whose id names another host, or no address, is not polled', async () => {
    const provider = createBfl(settings());
    for (const jobId of [
      '0 https://example.com/v1/get_result?id=1',
      '0 http://api.bfl.ai/v1/get_result?id=1',
      'sandbox-1',
    ]) {
      expect(await provider.poll?.(jobId, aJob(), never)).toMatchObject({
        reason: 'unknown_answer',
        detail: 'an address of another host',
      });
    }
  });
});

describe('The credential', () => {
  it('The credential is not judged when the vendor is not reached', async () => {
    expect(await checkBfl(settings({ baseUrl: await closedUrl() }), never)).toEqual({
      verdict: 'unreachable',
      detail: 'ECONNREFUSED',
    });
  });
});

describe('The fake refuses what the vendor would refuse', () => {
  const good = { prompt: 'a cat', width: 1024, height: 1024, output_format: 'png', safety_tolerance: 2 };
  const send = async (
    body: object,
    { path = '/v1/flux-2-pro', method = 'POST', xKey = key } = {},
  ): Promise<number> =>
    (
      await fetch(`${fake.url}${path}`, {
        method,
        headers: { 'x-key': xKey, 'content-type': 'application/json' },
        ...(method === 'POST' && { body: JSON.stringify(body) }),
      })
    ).status;

  it('The fake accepts what the vendor would accept', async () => expect(await send(good)).toBe(200));

  it.each<[string, object]>([
    ['an unknown field', { ...good, size: '1024x1024' }],
    ['no prompt', { ...good, prompt: undefined }],
    ['sides that are no multiple of 16', { ...good, width: 1000 }],
    ['more than four megapixels', { ...good, width: 4096, height: 2048 }],
    ['another format', { ...good, output_format: 'jpg' }],
    ['a tolerance out of range', { ...good, safety_tolerance: 6 }],
    ['what is no image', { ...good, input_image: 'bm8gaW1hZ2U=' }],
    ['a ninth image', { ...good, input_image_9: pictureOf('png', 64, 48).toString('base64') }],
  ])('The fake refuses %s', async (_, body) => expect(await send(body)).toBe(422));

  it('The fake refuses a fifth image for klein, another key, another path and another method', async () => {
    const withFifth = { ...good, input_image_5: pictureOf('png', 64, 48).toString('base64') };
    expect(await send(withFifth, { path: '/v1/flux-2-klein-4b' })).toBe(422);
    expect(await send(withFifth, { path: '/v1/flux-2-klein-9b' })).toBe(422);
    expect(await send(good, { xKey: 'another' })).toBe(403);
    expect(await send(good, { path: '/v1/flux-3' })).toBe(404);
    expect(await send(good, { method: 'GET' })).toBe(404);
  });
});

const vendor = await startAnsweringVendor();
afterAll(() => vendor.stop());
const proJob = jobsLike({ providerModel: 'model', outputFormat: 'jpeg' });

describe('An answer of Black Forest Labs', () => {
  const submitted = (status: number, body: object): Promise<ProviderAnswer> => {
    vendor.answerWith({ status, body });
    return createBfl(vendor.settings).submit(proJob({ sourceCount: 1 }), never);
  };
  const polled = (body: object, status = 200): Promise<ProviderAnswer> | undefined => {
    vendor.answerWith({ status, body });
    return createBfl(vendor.settings).poll?.(`0 ${vendor.url}/job`, proJob({ sourceCount: 1 }), never);
  };

  it.each<[unknown, string]>([
    [[{ type: 'value_error', loc: ['body', 'input_image'] }], 'source_image'],
    [[{ type: 'value_error', loc: ['body', 'input_image_2'] }], 'source_image'],
    [[{ type: 'value_error', loc: ['body', 'prompt'] }], 'unknown_answer'],
    [[{ type: 'value_error', loc: [7] }], 'unknown_answer'],
  ])('A 422 of Black Forest Labs with %j is refused as %s', async (detail, reason) => {
    expect(await submitted(422, { detail })).toEqual(refused(reason, 'HTTP 422 value_error'));
  });

  it.each([
    [200, {}],
    [201, { polling_url: `${vendor.url}/job` }],
    [422, { detail: 'a text' }],
  ])('A submission that Black Forest Labs answers with %i and %j is refused', async (status, body) => {
    expect(await submitted(status, body)).toEqual(refused('unknown_answer', `HTTP ${status}`));
  });

  it.each<[unknown, string]>([
    [{ 'Moderation Reasons': ['Image 2'] }, 'source_image'],
    [{ 'Moderation Reasons': ['Safety', 'input IMAGE'] }, 'source_image'],
    [{ 'Moderation Reasons': ['Imagery'] }, 'prompt'],
    [{ 'Moderation Reasons': ['An image'] }, 'prompt'],
    [{ 'Moderation Reasons': [7] }, 'prompt'],
    [{}, 'prompt'],
  ])('A moderated request with the details %j is refused as %s', async (details, reason) => {
    expect(await polled({ status: 'Request Moderated', details })).toEqual(
      refused(reason, 'HTTP 200 Request Moderated'),
    );
  });

  it('A moderated picture is refused for the prompt, whatever the reasons are', async () => {
    const body = { status: 'Content Moderated', details: { 'Moderation Reasons': ['Image 1'] } };
    expect(await polled(body)).toEqual(refused('prompt', 'HTTP 200 Content Moderated'));
  });

  it.each<[object, string, string, number?]>([
    [{ status: 'Ready', result: {} }, 'nothing_rendered', 'HTTP 200 Ready'],
    [{ status: 'Ready', result: { sample: 7 } }, 'nothing_rendered', 'HTTP 200 Ready'],
    [{ status: 'Resting' }, 'unknown_answer', 'HTTP 200 Resting'],
    [{ status: 7 }, 'unknown_answer', 'HTTP 200'],
    [{ status: 'Task not found' }, 'unknown_answer', 'HTTP 404 Task not found', 404],
  ])('The answer %j of Black Forest Labs to a poll is %s', async (body, reason, detail, status) => {
    expect(await polled(body, status)).toEqual(refused(reason, detail));
  });

  it('Black Forest Labs gets an empty prompt when the job has none', async () => {
    vendor.answerWith({ status: 429 });
    await createBfl(vendor.settings).submit(proJob({ prompt: null }), never);
    expect(vendor.received.at(-1)?.json).toMatchObject({ prompt: '' });
  });
});

import { afterAll, describe, expect, it } from 'vitest';
import { fakeIdeogramKey, startFakeIdeogram } from '../../lab/vendors/fakes/ideogram/server.ts';
import type { RefusalReason } from '../../service/contract/failures.ts';
import { createIdeogram, ideogramSizes } from '../../service/vendors/ideogram.ts';
import { never, refused, startAnsweringVendor } from './answering-vendor.ts';
import { everySize, headerOf, jobsLike, lastReceived, received, talkTo } from './vendor-talk.ts';

const fake = await startFakeIdeogram();
const answering = await startAnsweringVendor();
afterAll(() => Promise.all([fake.stop(), answering.stop()]));

const { speak, answerTo } = talkTo({ name: 'ideogram', create: createIdeogram, fake, key: fakeIdeogramKey });
const aJob = jobsLike({ providerModel: 'ideogram-4-5', prompt: 'Some secret' });
const path = '/v2/image/generate/ideogram-4-5';

describe('Each answer of Ideogram', () => {
  it.each<[number, object, RefusalReason, string]>([
    [422, { reject_reason: 'inflight_limit' }, 'prompt', 'HTTP 422 inflight_limit'],
    [402, { reject_reason: 'daily_limit' }, 'credentials', 'HTTP 402'],
    [402, { reject_reason: 'inflight_limit' }, 'unavailable', 'HTTP 402 inflight_limit'],
    [429, { reject_reason: 'inflight_limit' }, 'unavailable', 'HTTP 429'],
    [200, { generation_id: 7 }, 'unknown_answer', 'HTTP 200'],
    [200, { generation_id: '' }, 'unknown_answer', 'a job id of an unknown form'],
    [201, { generation_id: 'id' }, 'unknown_answer', 'HTTP 201'],
  ])('A submission that is answered with %i and %j is %s', async (status, body, reason, detail) => {
    answering.answerWith({ status, body });
    expect(await createIdeogram(answering.settings).submit(aJob(), never)).toEqual(refused(reason, detail));
  });

  it.each<[object, RefusalReason, string]>([
    [{ status: 'failed', failure_reason: 'constructor' }, 'failed', 'HTTP 200 constructor'],
    [{ status: 'failed', failure_reason: 7 }, 'failed', 'HTTP 200 failed'],
    [{ status: 'completed' }, 'nothing_rendered', 'HTTP 200'],
    [{ status: 'completed', data: [{ url: 7 }] }, 'nothing_rendered', 'HTTP 200'],
    [{ status: 7 }, 'unknown_answer', 'HTTP 200'],
    [
      { status: 'completed', data: [{ url: 'https://ideogram.ai/a.png', is_image_safe: false }] },
      'prompt',
      'HTTP 200 is_image_safe',
    ],
  ])('A job of which Ideogram says %j is refused as %s', async (body, reason, detail) => {
    answering.answerWith({ status: 200, body });
    expect(await createIdeogram(answering.settings).poll?.('0 job', aJob(), never)).toEqual(
      refused(reason, detail),
    );
  });
});

describe('A request to Ideogram', () => {
  it('A request asks for one picture as a job, in the quality of the route', async () => {
    const sent = await received(fake, () =>
      speak(aJob({ prompt: 'a cat', quality: 'high', resolution: '2K', aspectRatio: '16:9' })),
    );
    const [submitted, polled, , , downloaded, ...more] = sent;
    expect(submitted).toMatchObject({
      method: 'POST',
      path,
      headers: { 'api-key': fakeIdeogramKey, 'content-type': 'application/json' },
    });
    expect(submitted?.json).toEqual({
      prompt: 'a cat',
      quality: 'high',
      size: '2560x1440',
      magic_prompt: 'auto',
      num_images: 1,
      async: true,
    });
    expect(polled).toMatchObject({ method: 'GET', headers: { 'api-key': fakeIdeogramKey } });
    expect(polled?.path).toMatch(/^\/v2\/generations\/fake-generation-\d+$/);
    expect([downloaded?.path.split('?')[0], downloaded?.headers['api-key'], more]).toEqual([
      expect.stringMatching(/^\/api\/images\/ephemeral\/.*\.png$/),
      undefined,
      [],
    ]);
  });

  it('A request with a seed draws the prompt as it is written, in medium quality by default', async () => {
    await answerTo(aJob({ seed: 0, prompt: '[row:throttled]' }));
    expect(lastReceived(fake).json).toMatchObject({ seed: 0, magic_prompt: 'off', quality: 'medium' });
  });

  it.each(everySize.filter(({ resolution, aspectRatio }) => ideogramSizes[resolution]?.[aspectRatio]))(
    'Ideogram accepts the size for $aspectRatio at $resolution and renders it',
    async ({ resolution, aspectRatio }) => {
      const header = headerOf(await answerTo(aJob({ resolution, aspectRatio })));
      const [across = 1, down = 1] = aspectRatio.split(':').map(Number);
      expect(header?.contentType).toBe('image/png');
      expect((header?.width ?? 0) * down).toBe((header?.height ?? 0) * across);
    },
  );

  it('A request for 4K or for 21:9 throws, because the catalog has no such route', async () => {
    await expect(speak(aJob({ resolution: '4K' }))).rejects.toThrow('Ideogram renders no 4K in 1:1');
    await expect(speak(aJob({ aspectRatio: '21:9' }))).rejects.toThrow('Ideogram renders no 1K in 21:9');
  });
});

describe('An accepted job', () => {
  it('A job is polled ever more slowly, and at most once a second', async () => {
    answering.answerWith(({ length }) => ({
      status: 200,
      body: length === path.length ? { generation_id: 'id' } : { status: 'pending' },
    }));
    const { waits } = await speak(aJob(), { baseUrl: answering.url, mostPolls: 8 });
    expect(waits).toEqual([1_000, 1_000, 1_500, 1_500, 2_000, 2_000, 3_000, 3_000]);
  });

  it.each(['poll-broke', 'poll-throttled', 'poll-down'])(
    'After a failed poll (%s), a job is not polled for 5 s, and it is not submitted again',
    async (row) => {
      const before = fake.jobs();
      expect((await speak(aJob({ prompt: `[row:${row}]` }))).waits).toEqual([1_000, 5_000, 1_500]);
      expect(fake.jobs() - before).toBe(1);
    },
  );

  it('The id of a job cannot lead to another path', async () => {
    answering.answerWith({ status: 404 });
    await createIdeogram(answering.settings).poll?.('0 ../../models?a=/b', aJob(), never);
    expect(answering.received.at(-1)?.path).toBe('/v2/generations/..%2F..%2Fmodels%3Fa%3D%2Fb');
  });
});

describe('The fake refuses what the vendor would refuse', () => {
  const good = { prompt: 'a cat', size: '1024x1024', async: true };
  const send = async (
    body: object,
    { to = path, method = 'POST', key = fakeIdeogramKey } = {},
  ): Promise<number> =>
    (
      await fetch(`${fake.url}${to}`, {
        method,
        headers: { 'api-key': key, 'content-type': 'application/json' },
        ...(method === 'POST' && { body: JSON.stringify(body) }),
      })
    ).status;

  it('The fake accepts what the vendor would accept, and a quote is no job', async () => {
    const before = fake.jobs();
    expect(await send(good)).toBe(200);
    expect(await send(good, { to: `${path}?dry_run=true` })).toBe(200);
    expect(fake.jobs() - before).toBe(1);
  });

  it.each<[string, object]>([
    ['an unknown field', { ...good, rendering_speed: 'TURBO' }],
    ['no prompt', { ...good, prompt: '' }],
    ['a prompt that is too long', { ...good, prompt: 'x'.repeat(10_001) }],
    ['a size that is no preset', { ...good, size: '1008x1008' }],
    ['the size of a source image, without one', { ...good, size: 'source' }],
    ['a quality that needs a source image', { ...good, quality: 'very_low' }],
    ['a seed out of range', { ...good, seed: -1 }],
    ['nine pictures', { ...good, num_images: 9 }],
    ['a word in place of a switch', { ...good, async: 'true' }],
  ])('The fake refuses %s', async (_what, body) => expect(await send(body)).toBe(400));

  it('The fake refuses another key, path, method and job, and a key beside a signed address', async () => {
    expect(await send(good, { key: 'another' })).toBe(401);
    expect(await send(good, { to: '/v2/image/generate/ideogram-9' })).toBe(404);
    expect(await send(good, { method: 'GET' })).toBe(405);
    expect(await send(good, { method: 'GET', to: '/v2/generations/none' })).toBe(404);
    await speak(aJob());
    const { path: signed } = lastReceived(fake);
    expect((await fetch(`${fake.url}${signed}`)).status).toBe(200);
    expect(await send(good, { method: 'GET', to: signed })).toBe(403);
  });
});

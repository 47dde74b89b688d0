import { afterAll, describe, expect, it } from 'vitest';
import { fieldsOf, pictureOf, type Reply, startFakeVendor } from '../../lab/vendors/fakes/fake-vendor.ts';
import { startFakeReplicate } from '../../lab/vendors/fakes/replicate/server.ts';
import type { SourceImage } from '../../service/vendors/provider.ts';
import { createReplicate } from '../../service/vendors/replicate/provider.ts';
import {
  headed,
  headerOf,
  jobIdOf,
  jobsLike,
  notReached,
  received,
  sourceUris,
  type Spoken,
  talkTo,
} from './vendor-talk.ts';

const key = 'fake-replicate-key';
const never = new AbortController().signal;

const fake = await startFakeReplicate(headed);
afterAll(() => fake.stop());

const { settings, speak } = talkTo({ name: 'replicate', create: createReplicate, fake, key });
const aJob = jobsLike({ providerModel: 'black-forest-labs/flux-2-pro' });

/** Too large to be part of a request: a picture that is followed by zeros. */
const largeSource: SourceImage = {
  contentType: 'image/png',
  width: 64,
  height: 48,
  bytes: Buffer.concat([pictureOf('png', 64, 48), Buffer.alloc(300_000)]),
};
const withLargeSource = aJob({ sourceCount: 1, readSources: async () => Promise.resolve([largeSource]) });

describe('A request', () => {
  it('A request carries the token, a deadline for the vendor, the prompt, the pixels and the format', async () => {
    const asked = await received(fake, () =>
      speak(aJob({ aspectRatio: '21:9', resolution: '2K', outputFormat: 'jpeg', seed: 7 })),
    );
    expect(asked[0]).toMatchObject({
      method: 'POST',
      path: '/v1/models/black-forest-labs/flux-2-pro/predictions',
    });
    expect(asked[0]?.headers).toMatchObject({
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      'cancel-after': '15m',
    });
    expect(asked[0]?.headers['prefer']).toBeUndefined();
    expect(asked[0]?.json).toEqual({
      input: {
        prompt: 'a cat',
        output_format: 'jpg',
        output_quality: 95,
        seed: 7,
        aspect_ratio: 'custom',
        width: 2016,
        height: 864,
        safety_tolerance: 2,
      },
    });
    expect(asked[1]).toMatchObject({
      method: 'GET',
      path: expect.stringMatching(/^\/v1\/predictions\/\w+$/) as string,
      headers: { authorization: `Bearer ${key}` },
    });
    expect(asked.at(-1)?.path).toMatch(/^\/xezq\//);
    expect(asked.at(-1)?.headers['authorization']).toBeUndefined();
  });

  it('A request for klein names ratio and megapixels, and has its own field for source images', async () => {
    const job = aJob({
      providerModel: 'black-forest-labs/flux-2-klein-4b',
      aspectRatio: '16:9',
      outputFormat: 'webp',
      sourceCount: 2,
    });
    let spoken: Spoken | undefined;
    const [submitted] = await received(fake, async () => (spoken = await speak(job)));
    const images = sourceUris(2);
    expect(submitted?.json).toEqual({
      input: {
        prompt: 'a cat',
        output_format: 'webp',
        output_quality: 95,
        aspect_ratio: '16:9',
        output_megapixels: '1',
        images,
      },
    });
    expect(spoken?.answer.kind).toBe('rendered');
    await expect(speak({ ...job, resolution: '2K' })).rejects.toThrow('renders no 2K');
  });

  it('A request for FLUX 3 names ratio and class, searches no web, and has no seed', async () => {
    const job = {
      providerModel: 'black-forest-labs/flux-3-image',
      resolution: '2K',
      aspectRatio: '21:9',
      outputFormat: 'jpeg',
      seed: 7,
    } as const;
    for (const sourceCount of [0, 2]) {
      let spoken: Spoken | undefined;
      const [submitted] = await received(
        fake,
        async () => (spoken = await speak(aJob({ ...job, sourceCount }))),
      );
      const images = sourceUris(2);
      expect(submitted?.json).toEqual({
        input: {
          prompt: 'a cat',
          output_format: 'jpg',
          output_quality: 95,
          aspect_ratio: '21:9',
          resolution: '2k',
          grounding: false,
          safety_tolerance: 2,
          ...(sourceCount > 0 && { images }),
        },
      });
      expect(headerOf(spoken?.answer ?? notReached)).toMatchObject({
        contentType: 'image/jpeg',
        width: 3136,
      });
    }
  });

  it('A large source image is uploaded first, and the request names its address', async () => {
    let spoken: Spoken | undefined;
    const [uploaded, submitted] = await received(fake, async () => (spoken = await speak(withLargeSource)));
    expect(uploaded).toMatchObject({
      method: 'POST',
      path: '/v1/files',
      headers: { authorization: `Bearer ${key}` },
    });
    expect(uploaded?.body.includes(Buffer.from(largeSource.bytes))).toBe(true);
    expect(submitted?.json).toMatchObject({
      input: { input_images: [expect.stringContaining(`${fake.url}/v1/files/`)] },
    });
    expect(spoken?.answer.kind).toBe('rendered');
  });

  it.each<[string, Reply, object]>([
    ['is cut', { status: 'break' }, { reason: 'unavailable' }],
    ['meets a vendor that is down', { status: 502 }, { reason: 'unavailable', detail: 'HTTP 502' }],
    [
      'is too large',
      { status: 413, body: { detail: 'Files must be less than 100MB in size' } },
      { reason: 'source_image', detail: 'HTTP 413' },
    ],
    ['is refused for our token', { status: 401 }, { reason: 'credentials', detail: 'HTTP 401' }],
    [
      'is answered without an address',
      { status: 201, body: { id: 'file' } },
      { reason: 'unknown_answer', detail: 'HTTP 201' },
    ],
    [
      'is answered with an address elsewhere',
      { status: 201, body: { urls: { get: 'https://example.com/file' } } },
      { reason: 'unknown_answer', detail: 'an address of another host' },
    ],
  ])('A request whose upload %s creates no prediction', async (_, reply, refused) => {
    const vendor = await startFakeVendor(() => reply);
    const provider = createReplicate(settings({ baseUrl: vendor.url }));
    expect(await provider.submit(withLargeSource, never)).toMatchObject({ kind: 'refused', ...refused });
    expect(vendor.received.map(({ path }) => path)).toEqual(['/v1/files']);
    await vendor.stop();
  });

  it('The address to call is beside the input, for the end of the prediction alone', async () => {
    const callbackUrl = 'https://darkroom.test/callbacks/v1/replicate/id/secret?a=b';
    const [without, asked] = await received(fake, async () => {
      await speak(aJob(), { mostPolls: 0 });
      await speak(aJob({ callbackUrl }), { mostPolls: 0 });
    });
    expect(asked?.path).toBe(without?.path);
    expect(Object.keys(fieldsOf(without?.json))).toEqual(['input']);
    expect(asked?.json).toEqual({
      ...fieldsOf(without?.json),
      webhook: callbackUrl,
      webhook_events_filter: ['completed'],
    });
    expect(fake.callbackUrlOf(fake.jobIds().at(-1) ?? '')).toBe(callbackUrl);
  });
});

describe('An accepted job', () => {
  it('A job is cancelled by its id, and a later poll says so', async () => {
    const provider = createReplicate(settings());
    const jobId = await jobIdOf(provider, aJob());
    const [cancelled] = await received(fake, async () => provider.cancel?.(jobId, aJob(), never));
    expect(cancelled).toMatchObject({
      method: 'POST',
      path: expect.stringMatching(/^\/v1\/predictions\/\w+\/cancel$/) as string,
    });
    expect(await provider.poll?.(jobId, aJob(), never)).toEqual({
      kind: 'refused',
      reason: 'cancelled',
      detail: 'HTTP 200 canceled',
    });
  });

  it('A prediction that goes on after the request to stop it is pending', async () => {
    const provider = createReplicate(settings());
    const jobId = await jobIdOf(provider, aJob({ prompt: '[row:keeps-rendering]' }));
    expect(await provider.cancel?.(jobId, aJob(), never)).toBe('asked');
    expect(await provider.poll?.(jobId, aJob(), never)).toMatchObject({ kind: 'pending' });
    expect(await provider.cancel?.('0 unknown', aJob(), never)).toBe('refused');
  });
});

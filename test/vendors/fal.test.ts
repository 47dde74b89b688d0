import { afterAll, describe, expect, it } from 'vitest';
import { fieldsOf } from '../../lab/vendors/fakes/fake-vendor.ts';
import { fakeModels, wrongField } from '../../lab/vendors/fakes/fal/rows.ts';
import { startFakeFal } from '../../lab/vendors/fakes/fal/server.ts';
import { createFal } from '../../service/vendors/fal/provider.ts';
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

const key = 'fake-fal-key';
const never = new AbortController().signal;

const fake = await startFakeFal(headed);
afterAll(() => fake.stop());

const { settings, speak } = talkTo({ name: 'fal', create: createFal, fake, key });
const aJob = jobsLike({ providerModel: 'fal-ai/flux-2-pro' });

describe('A request', () => {
  it('A request carries the key, prompt, pixels and format, and forbids storing and retrying', async () => {
    const asked = await received(fake, () =>
      speak(aJob({ aspectRatio: '3:2', resolution: '2K', outputFormat: 'jpeg', seed: 7 })),
    );
    expect(asked[0]).toMatchObject({ method: 'POST', path: '/fal-ai/flux-2-pro' });
    expect(asked[0]?.headers).toMatchObject({
      authorization: `Key ${key}`,
      'content-type': 'application/json',
      'x-fal-no-retry': '1',
      'x-app-fal-disable-fallback': 'true',
      'x-fal-request-timeout': '780',
      'x-fal-store-io': '0',
      'x-fal-object-lifecycle-preference': '{"expiration_duration_seconds":3600}',
    });
    expect(asked[0]?.json).toEqual({
      prompt: 'a cat',
      image_size: { width: 2016, height: 1344 },
      output_format: 'jpeg',
      enable_safety_checker: true,
      seed: 7,
      safety_tolerance: '2',
    });
    expect(asked.slice(1).map(({ method, path }) => `${method} ${path.replace(/[\w-]{36}/, 'id')}`)).toEqual([
      'GET /fal-ai/flux-2-pro/requests/id/status',
      'GET /fal-ai/flux-2-pro/requests/id/status',
      'GET /fal-ai/flux-2-pro/requests/id/status',
      'GET /fal-ai/flux-2-pro/requests/id',
      'GET /files/b/koala/id',
    ]);
    expect(asked.at(-1)?.headers['authorization']).toBeUndefined();
  });

  it('A request with source images goes to the editing endpoint and carries them as data URIs', async () => {
    const [submitted, polled] = await received(fake, () =>
      speak(aJob({ providerModel: 'fal-ai/flux-2/klein/4b', sourceCount: 2, outputFormat: 'webp' })),
    );
    const images = sourceUris(2);
    expect(submitted?.path).toBe('/fal-ai/flux-2/klein/4b/edit');
    expect(submitted?.json).toEqual({
      prompt: 'a cat',
      image_size: { width: 1024, height: 1024 },
      output_format: 'webp',
      enable_safety_checker: true,
      num_images: 1,
      image_urls: images,
    });
    // The addresses of the queue name the app without the path within it.
    expect(polled?.path).toMatch(/^\/fal-ai\/flux-2\/requests\//);
  });

  it.each<[string, object, string, object]>([
    [
      'fal-ai/flux-2-flex',
      { seed: 7 },
      '/fal-ai/flux-2-flex/edit',
      {
        image_size: { width: 1360, height: 768 },
        enable_safety_checker: true,
        safety_tolerance: '2',
        seed: 7,
      },
    ],
    [
      'openai/gpt-image-2',
      { quality: 'high', seed: 7 },
      '/openai/gpt-image-2/edit',
      { image_size: { width: 1360, height: 768 }, quality: 'high', num_images: 1 },
    ],
    [
      'openai/gpt-image-2',
      {},
      '/openai/gpt-image-2/edit',
      { image_size: { width: 1360, height: 768 }, quality: 'medium', num_images: 1 },
    ],
    [
      'openai/gpt-image-2.5/flare/text-to-image',
      { quality: 'xhigh', resolution: '4K' },
      '/openai/gpt-image-2.5/flare/edit',
      { image_size: { width: 3840, height: 2160 }, quality: 'xhigh', num_images: 1 },
    ],
    [
      'google/nano-banana-2.1',
      { resolution: '4K', seed: 7 },
      '/google/nano-banana-2.1/edit',
      { aspect_ratio: '16:9', resolution: '4K', num_images: 1, seed: 7 },
    ],
    [
      'blackforestlabs/flux-3/text-to-image',
      { seed: 7 },
      '/blackforestlabs/flux-3/edit-image',
      { aspect_ratio: '16:9', resolution: '1k', safety_tolerance: 2 },
    ],
  ])('%s has its own fields and address, with and without source images', async (name, more, edit, own) => {
    const job = { providerModel: name, aspectRatio: '16:9', outputFormat: 'jpeg', ...more } as const;
    for (const sourceCount of [0, 2]) {
      let spoken: Spoken | undefined;
      const [submitted] = await received(
        fake,
        async () => (spoken = await speak(aJob({ ...job, sourceCount }))),
      );
      const { image_urls: images, ...fields } = fieldsOf(submitted?.json);
      expect(submitted?.path).toBe(sourceCount === 0 ? `/${name}` : edit);
      expect(fields).toEqual({ prompt: 'a cat', output_format: 'jpeg', ...own });
      expect(images).toEqual(sourceCount === 0 ? undefined : [expect.anything(), expect.anything()]);
      const { width, height } = headerOf(spoken?.answer ?? notReached) ?? { width: 0, height: 1 };
      expect(width / height).toBeCloseTo(16 / 9, 1);
    }
  });

  it.each([
    ['openai/gpt-image-2', { image_size: { width: 4096, height: 4096 }, quality: 'low' }, 'image_size'],
    ['openai/gpt-image-2', { image_size: { width: 1024, height: 1024 }, quality: 'xhigh' }, 'quality'],
    ['openai/gpt-image-2', { image_size: { width: 1024, height: 1024 }, quality: 'low', seed: 7 }, 'seed'],
    ['google/nano-banana-2.1', { aspect_ratio: '1:1', resolution: '1k' }, 'resolution'],
    ['google/nano-banana-2.1', { resolution: '1K' }, 'aspect_ratio'],
    ['blackforestlabs/flux-3/text-to-image', { aspect_ratio: '1:1', resolution: '1k', seed: 7 }, 'seed'],
    ['blackforestlabs/flux-3/edit-image', { aspect_ratio: '1:1', resolution: '1k' }, 'image_urls'],
  ])('The fake refuses what %s does not take: %j', (path, fields, refused) => {
    const model = fakeModels.find((one) => one.path === path || one.editPath === path);
    if (!model) throw new Error(`the fake has no ${path}`);
    const body = { prompt: 'a cat', output_format: 'jpeg', ...fields };
    expect(wrongField(body, model, model.editPath === path)).toBe(refused);
  });

  it('The address to call is in the query, not in the JSON, and changes nothing else', async () => {
    const callbackUrl = 'https://darkroom.test/callbacks/v1/fal/id/secret?a=b&c=ü#d';
    const asked = await received(fake, async () => {
      for (const sourceCount of [0, 1]) {
        await speak(aJob({ sourceCount }), { mostPolls: 0 });
        await speak(aJob({ sourceCount, callbackUrl }), { mostPolls: 0 });
      }
    });
    const query = `?fal_webhook=${encodeURIComponent(callbackUrl)}`;
    expect(asked.map(({ path }) => path)).toEqual([
      '/fal-ai/flux-2-pro',
      `/fal-ai/flux-2-pro${query}`,
      '/fal-ai/flux-2-pro/edit',
      `/fal-ai/flux-2-pro/edit${query}`,
    ]);
    expect(asked[1]?.json).toEqual(asked[0]?.json);
    expect(asked[3]?.json).toEqual(asked[2]?.json);
    expect(fake.callbackUrlOf(fake.jobIds().at(-1) ?? '')).toBe(callbackUrl);
  });
});

describe('An accepted job', () => {
  it('A job is cancelled at its own address', async () => {
    const provider = createFal(settings());
    const jobId = await jobIdOf(provider, aJob());
    const [cancelled] = await received(fake, async () => provider.cancel?.(jobId, aJob(), never));
    expect(cancelled).toMatchObject({
      method: 'PUT',
      path: expect.stringMatching(/\/requests\/[\w-]+\/cancel$/) as string,
      headers: { authorization: `Key ${key}` },
    });
  });

  it('A poll of a stopped job says that it was cancelled, and a job that goes on is pending', async () => {
    const provider = createFal(settings());
    const stateAfter = async (prompt: string): Promise<unknown> => {
      const jobId = await jobIdOf(provider, aJob({ prompt }));
      expect(await provider.cancel?.(jobId, aJob(), never)).toBe('asked');
      return provider.poll?.(jobId, aJob(), never);
    };
    expect(await stateAfter('a lake')).toEqual({
      kind: 'refused',
      reason: 'cancelled',
      detail: 'HTTP 499 client_cancelled',
    });
    expect(await stateAfter('[row:keeps-rendering]')).toMatchObject({ kind: 'pending' });
  });

  it('A job that has ended is not stopped', async () => {
    const provider = createFal(settings());
    const jobId = await jobIdOf(provider, aJob());
    for (let polls = 0; polls < 3; polls += 1) await provider.poll?.(jobId, aJob(), never);
    expect(await provider.cancel?.(jobId, aJob(), never)).toBe('refused');
  });
});

describe('The fake refuses what the vendor would refuse', () => {
  const good = { prompt: 'a cat', image_size: { width: 1024, height: 1024 }, output_format: 'png' };
  const headers = { authorization: `Key ${key}`, 'content-type': 'application/json' };
  const send = async (
    body: object,
    path = '/fal-ai/flux-2-pro',
    more: Record<string, string> = {},
  ): Promise<Response> =>
    fetch(`${fake.url}${path}`, {
      method: 'POST',
      headers: { ...headers, ...more },
      body: JSON.stringify(body),
    });
  /** The queue accepts a wrong input, and the result names the wrong field. */
  const fieldRefused = async (body: object, path?: string): Promise<unknown> => {
    const { status_url: status, response_url: result } = (await (await send(body, path)).json()) as Record<
      string,
      string
    >;
    for (let polls = 0; polls < 3; polls += 1) await fetch(status ?? '', { headers });
    const { detail } = (await (await fetch(result ?? '', { headers })).json()) as {
      detail?: { loc: string[] }[];
    };
    return detail?.[0]?.loc[1];
  };

  it.each<[string, object, string?]>([
    ['size', { ...good, size: '1K' }],
    ['prompt', { ...good, prompt: undefined }],
    ['image_size', { ...good, image_size: { width: 1000, height: 1024 } }],
    ['output_format', { ...good, output_format: 'webp' }],
    ['safety_tolerance', { ...good, safety_tolerance: 2 }],
    ['image_urls', { ...good, image_urls: ['data:image/png;base64,bm8='] }, '/fal-ai/flux-2-pro/edit'],
    ['image_urls', { ...good }, '/fal-ai/flux-2-max/edit'],
    ['safety_tolerance', { ...good, safety_tolerance: '2' }, '/fal-ai/flux-2/klein/4b'],
  ])('The fake refuses the field %s', async (field, body, path) =>
    expect(await fieldRefused(body, path)).toBe(field),
  );

  it('The fake refuses another key and another model, and accepts a good request', async () => {
    expect((await send(good, undefined, { authorization: key })).status).toBe(401);
    expect((await send(good, '/fal-ai/flux-3')).status).toBe(404);
    expect(await fieldRefused(good)).toBeUndefined();
  });
});

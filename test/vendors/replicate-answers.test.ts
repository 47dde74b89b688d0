/** Fields and statuses of Replicate's answers for which the vendor's fake has no row. */
import { afterAll, describe, expect, it } from 'vitest';
import { formOf } from '../../lab/vendors/fakes/openai/server.ts';
import type { ProviderAnswer, SourceImage } from '../../service/vendors/provider.ts';
import { createReplicate } from '../../service/vendors/replicate/provider.ts';
import { never, refused, startAnsweringVendor } from './answering-vendor.ts';
import { jobsLike } from './vendor-talk.ts';
import { startFakeReplicate } from '../../lab/vendors/fakes/replicate/server.ts';

const vendor = await startAnsweringVendor();
afterAll(() => vendor.stop());
const aJob = jobsLike({ providerModel: 'model', outputFormat: 'jpeg' });

describe('An answer of Replicate', () => {
  const polled = (body: object, status = 200): Promise<ProviderAnswer> | undefined => {
    vendor.answerWith({ status, body });
    return createReplicate(vendor.settings).poll?.('0 job', aJob(), never);
  };
  const submitted = (status: number, body: object): Promise<ProviderAnswer> => {
    vendor.answerWith({ status, body });
    return createReplicate(vendor.settings).submit(aJob(), never);
  };

  it.each<[unknown, string, string]>([
    ['The input was flagged (E005)', 'prompt', 'failed E005'],
    ['Sensitive content', 'prompt', 'failed'],
    ['NSFW content', 'prompt', 'failed'],
    ['Prediction timed out', 'timed_out', 'failed'],
    ['A time-out', 'timed_out', 'failed'],
    ['timeout (E1234)', 'timed_out', 'failed E1234'],
    ['Out of memory (E6716)', 'failed', 'failed E6716'],
    ['Out of memory (E12)', 'failed', 'failed'],
    ['Out of memory (E123456)', 'failed', 'failed'],
    [7, 'failed', 'failed'],
  ])('A prediction of Replicate that failed with %j is refused as %s', async (error, reason, detail) => {
    expect(await polled({ status: 'failed', error })).toEqual(refused(reason, `HTTP 200 ${detail}`));
  });

  it.each<[object, string, string]>([
    [{ status: 'succeeded' }, 'nothing_rendered', 'HTTP 200 succeeded'],
    [{ status: 'succeeded', output: [] }, 'nothing_rendered', 'HTTP 200 succeeded'],
    [{ status: 'canceled' }, 'cancelled', 'HTTP 200 canceled'],
    [{ status: 'aborted' }, 'cancelled', 'HTTP 200 aborted'],
    [{ status: 'resting' }, 'unknown_answer', 'HTTP 200 resting'],
    [{ status: 7 }, 'unknown_answer', 'HTTP 200'],
  ])('The prediction %j of Replicate is refused as %s', async (body, reason, detail) => {
    expect(await polled(body)).toEqual(refused(reason, detail));
  });

  it.each([
    [201, { id: 'abc' }, { kind: 'pending', jobId: '0 abc', pollAfterMillis: 1_000 }],
    [202, { id: 'abc' }, { kind: 'pending', jobId: '0 abc', pollAfterMillis: 1_000 }],
    [200, { id: 'abc' }, refused('unknown_answer', 'HTTP 200')],
    [203, { id: 'abc' }, refused('unknown_answer', 'HTTP 203')],
    [201, { id: 'abc/' }, refused('unknown_answer', 'HTTP 201')],
    [201, { id: '/abc' }, refused('unknown_answer', 'HTTP 201')],
    [201, { id: 7 }, refused('unknown_answer', 'HTTP 201')],
    [422, { title: 'Input validation failed' }, refused('unknown_answer', 'HTTP 422 input_validation')],
    [422, { title: 'Another title' }, refused('unknown_answer', 'HTTP 422')],
  ])('A submission that Replicate answers with %i and %j has its outcome', async (status, body, answer) => {
    expect(await submitted(status, body)).toEqual(answer);
  });

  const withSources = (...sizes: readonly number[]) =>
    aJob({
      sourceCount: sizes.length,
      readSources: async () =>
        Promise.resolve(
          sizes.map((size): SourceImage => ({
            contentType: 'image/png',
            width: 8,
            height: 8,
            bytes: new Uint8Array(size),
          })),
        ),
    });

  it('A source image of 256,000 bytes is part of the request, and a larger one is uploaded first', async () => {
    const before = vendor.received.length;
    vendor.answerWith((path) =>
      path === '/v1/files'
        ? { status: 201, body: { urls: { get: `${vendor.url}/v1/files/1` } } }
        : { status: 201, body: { id: 'abc' } },
    );
    await createReplicate(vendor.settings).submit(withSources(256_000, 256_001), never);
    const [uploaded, submitted] = vendor.received.slice(before);
    expect([uploaded?.path, submitted?.json]).toEqual([
      '/v1/files',
      {
        input: expect.objectContaining({
          input_images: [
            `data:image/png;base64,${Buffer.alloc(256_000).toString('base64')}`,
            `${vendor.url}/v1/files/1`,
          ],
        }) as object,
      },
    ]);
    expect(uploaded && formOf(uploaded)).toEqual({
      fields: {},
      files: [{ field: 'content', name: 'source', type: 'image/png', bytes: Buffer.alloc(256_001) }],
    });
  });

  it('A single source image has its own field for klein and for the other models', async () => {
    vendor.answerWith({ status: 429 });
    const job = { ...withSources(1), providerModel: 'klein' };
    await createReplicate(vendor.settings).submit(job, never);
    expect(vendor.received.at(-1)?.json).toMatchObject({ input: { images: ['data:image/png;base64,AA=='] } });
    await createReplicate(vendor.settings).submit({ ...job, providerModel: 'pro', prompt: null }, never);
    expect(vendor.received.at(-1)?.json).toMatchObject({
      input: { prompt: '', input_images: ['data:image/png;base64,AA=='] },
    });
    await createReplicate(vendor.settings).submit(aJob({ providerModel: 'klein' }), never);
    expect(vendor.received.at(-1)?.json).not.toHaveProperty('input.images');
  });
});

const key = 'fake-replicate-key';

const fake = await startFakeReplicate();
afterAll(() => fake.stop());

describe('The fake of Replicate', () => {
  const good = { prompt: 'a cat', aspect_ratio: 'custom', width: 1024, height: 1024, output_format: 'png' };
  const pro = 'black-forest-labs/flux-2-pro';
  const post = async (path: string, body: string, more: Record<string, string> = {}): Promise<number> => {
    const headers = { authorization: `Bearer ${key}`, ...more };
    return (await fetch(`${fake.url}/v1/${path}`, { method: 'POST', headers, body })).status;
  };
  const send = (body: object, model = pro, headers: Record<string, string> = {}): Promise<number> =>
    post(`models/${model}/predictions`, JSON.stringify(body), {
      'content-type': 'application/json',
      ...headers,
    });

  it('The fake accepts what the vendor would accept', async () =>
    expect(await send({ input: good })).toBe(201));

  it.each<[string, object]>([
    ['an unknown field', { input: { ...good, size: '1K' } }],
    ['a field beside the input', { input: good, version: '1' }],
    ['an address to call that is none', { input: good, webhook: 'darkroom' }],
    ['an event that it has not', { input: good, webhook_events_filter: ['ended'] }],
    ['no prompt', { input: { ...good, prompt: undefined } }],
    ['sides beyond 2048', { input: { ...good, width: 2064 } }],
    ['a ratio that it has not', { input: { ...good, aspect_ratio: '21:9' } }],
    ['another format', { input: { ...good, output_format: 'jpeg' } }],
    ['a tolerance out of range', { input: { ...good, safety_tolerance: 0 } }],
    ['what is no image', { input: { ...good, input_images: ['data:image/png;base64,bm8='] } }],
    [
      'a file that was never uploaded',
      { input: { ...good, input_images: ['https://api.replicate.com/v1/files/1'] } },
    ],
  ])('The fake refuses %s', async (_, body) => expect(await send(body)).toBe(422));

  it('The fake refuses pixels for klein, a wrong deadline, another token, another model and a bad upload', async () => {
    expect(await send({ input: good }, 'black-forest-labs/flux-2-klein-4b')).toBe(422);
    expect(await send({ input: good }, pro, { 'cancel-after': 'soon' })).toBe(422);
    expect(await send({ input: good }, pro, { authorization: `Token ${key}` })).toBe(401);
    expect(await send({ input: good }, 'black-forest-labs/flux-3')).toBe(404);
    expect(await post('files', 'content')).toBe(400);
  });
});

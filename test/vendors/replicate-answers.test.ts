/** Fields and statuses of Replicate's answers for which the vendor's fake has no row. */
import { afterAll, describe, expect, it } from 'vitest';
import { formOf } from '../../lab/vendors/fakes/openai/server.ts';
import type { ProviderAnswer, SourceImage } from '../../service/vendors/provider.ts';
import { createReplicate } from '../../service/vendors/replicate/provider.ts';
import { never, refused, startAnsweringVendor } from './answering-vendor.ts';
import { jobsLike } from './vendor-talk.ts';

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

  it('A picture of Replicate that is moved elsewhere is not followed there', async () => {
    vendor.answerWith((path) =>
      path === '/moved'
        ? { status: 302, headers: { location: `${vendor.url}/elsewhere` } }
        : { status: 200, body: { status: 'succeeded', output: `${vendor.url}/moved` } },
    );
    expect(await createReplicate(vendor.settings).poll?.('0 job', aJob(), never)).toEqual(
      refused('unknown_answer', 'HTTP 302 download'),
    );
    expect(vendor.received.at(-1)?.path).toBe('/moved');
  });

  it.each(['starting', 'processing'])(
    'A prediction of Replicate that is %s is polled again',
    async (status) => {
      expect(await polled({ status })).toMatchObject({
        kind: 'pending',
        jobId: '1 job',
        pollAfterMillis: 1_000,
      });
    },
  );

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

  it.each([
    [200, 'unknown_answer'],
    [202, 'unknown_answer'],
    [403, 'credentials'],
    [412, 'unknown_answer'],
    [413, 'source_image'],
    [428, 'unknown_answer'],
    [429, 'unavailable'],
    [499, 'unknown_answer'],
    [500, 'unavailable'],
  ])('An upload that Replicate answers with %i is refused as %s', async (status, reason) => {
    vendor.answerWith({ status, body: { urls: { get: `${vendor.url}/v1/files/1` } } });
    expect(await createReplicate(vendor.settings).submit(withSources(256_001), never)).toEqual(
      refused(reason, `HTTP ${status}`),
    );
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

/** Single fields and statuses of the vendors' answers that the fakes have no row for. */
import { afterAll, describe, expect, it } from 'vitest';
import { createBfl } from '../../../adapters/providers/bfl/provider.ts';
import { createFal } from '../../../adapters/providers/fal/provider.ts';
import { createGoogle } from '../../../adapters/providers/google/provider.ts';
import { createOpenai } from '../../../adapters/providers/openai/provider.ts';
import { createReplicate } from '../../../adapters/providers/replicate/provider.ts';
import type { ProviderAnswer, SourceImage } from '../../../core/provider.ts';
import { startFakeVendor, type Reply } from '../../../tools/vendors/fakes/fake-vendor.ts';
import { formOf } from '../../../tools/vendors/fakes/openai/form.ts';
import { jobsLike } from './vendor-talk.ts';

const never = new AbortController().signal;
let reply: Reply | ((path: string) => Reply) = { status: 200 };
const vendor = await startFakeVendor(({ path }) => (typeof reply === 'function' ? reply(path) : reply));
afterAll(() => vendor.stop());
const settings = {
  name: 'vendor',
  credentials: { read: async () => Promise.resolve('key'), forget: () => undefined },
  baseUrl: vendor.url,
};
const aJob = jobsLike({ providerModel: 'model', outputFormat: 'jpeg' });
const refused = (reason: string, detail: string): object => ({ kind: 'refused', reason, detail });

describe('A job without source images', () => {
  it.each([
    ['OpenAI', createOpenai],
    ['Gemini', createGoogle],
    ['Black Forest Labs', createBfl],
    ['fal', createFal],
    ['Replicate', createReplicate],
  ])('The adapter of %s reads no source images when the job has none', async (_vendor, create) => {
    reply = { status: 429 };
    const readSources = (): Promise<never> => Promise.reject(new Error('the images were read'));
    expect(await create(settings).submit(aJob({ readSources }), never)).toEqual(
      refused('unavailable', 'HTTP 429'),
    );
  });
});

describe('OpenAI', () => {
  const answerTo = (body: object, status = 400): Promise<ProviderAnswer> => {
    reply = { status, body };
    return createOpenai(settings).submit(aJob(), never);
  };

  it.each<[string, object, string]>([
    ['the field image', { param: 'image' }, 'source_image'],
    ['the field image[0]', { param: 'image[0]' }, 'source_image'],
    ['the field images_total', { param: 'images_total' }, 'unknown_answer'],
    ['the field mask_image', { param: 'mask_image' }, 'unknown_answer'],
    [
      'the field prompt, and an image in its text',
      { param: 'prompt', message: 'Invalid image file' },
      'unknown_answer',
    ],
    ['an image file in its text', { message: 'Invalid image file or mode' }, 'source_image'],
    ['an image field in its text', { message: "Invalid file 'image': unsupported" }, 'source_image'],
    [
      'an image file in its text, and an empty field',
      { param: '', message: 'Invalid image file' },
      'source_image',
    ],
    ['an image in the middle of its text', { message: 'Not an Invalid image file' }, 'unknown_answer'],
    [
      'an image in its text beside a code',
      { code: 'new_code', message: 'Invalid image file' },
      'unknown_answer',
    ],
    [
      'the field image, although it is a policy',
      { code: 'moderation_blocked', param: 'image' },
      'source_image',
    ],
    [
      'the field image, although it is our bill',
      { code: 'insufficient_quota', param: 'image' },
      'credentials',
    ],
  ])('An error of OpenAI that names %s is refused', async (_what, error, reason) => {
    expect(await answerTo({ error })).toMatchObject({ kind: 'refused', reason });
  });

  it.each([
    [499, 'unknown_answer'],
    [500, 'failed'],
    [502, 'failed'],
  ])('An error of OpenAI with status %i and no code is refused as %s', async (status, reason) => {
    expect(await answerTo({ error: {} }, status)).toEqual(refused(reason, `HTTP ${status}`));
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
    reply = { status: 429 };
    await createOpenai(settings).submit(aJob({ prompt: null }), never);
    expect(vendor.received.at(-1)?.json).toMatchObject({ prompt: '' });
  });
});

describe('Gemini', () => {
  const answerTo = (body: object, status = 200): Promise<ProviderAnswer> => {
    reply = { status, body };
    return createGoogle(settings).submit(aJob(), never);
  };
  const candidate = (parts: readonly object[], finishReason?: string): object => ({
    candidates: [{ finishReason, content: { parts } }],
  });
  const picture = (data: unknown, more: object = {}): object => ({ inlineData: { data }, ...more });

  it('The picture of Gemini is the last one that is neither a thought nor empty', async () => {
    const parts = [
      picture('YQ=='),
      picture('Yg=='),
      picture('Yw==', { thought: true }),
      picture(''),
      picture(7),
    ];
    expect(await answerTo(candidate(parts, 'STOP'))).toEqual({ kind: 'rendered', bytes: Buffer.from('b') });
  });

  it.each<[string, object, string, string]>([
    ['a picture and another end', candidate([picture('YQ==')], 'OTHER'), 'failed', 'HTTP 200 OTHER'],
    ['a picture and no end', candidate([picture('YQ==')]), 'unknown_answer', 'HTTP 200'],
    [
      'only a thought',
      candidate([picture('YQ==', { thought: true })], 'STOP'),
      'nothing_rendered',
      'HTTP 200 STOP',
    ],
  ])('An answer of Gemini with %s is refused', async (_what, body, reason, detail) => {
    expect(await answerTo(body)).toEqual(refused(reason, detail));
  });

  it.each<[object, string, string]>([
    [{ status: 'FAILED_PRECONDITION' }, 'credentials', 'HTTP 400 FAILED_PRECONDITION'],
    [
      { status: 'X', details: [{}, { reason: 'API_KEY_INVALID' }] },
      'credentials',
      'HTTP 400 API_KEY_INVALID',
    ],
    [{ status: 'X', message: 'Provided image is not valid.' }, 'source_image', 'HTTP 400 X'],
    [{ status: 'X', message: 'Unable to process input image.' }, 'source_image', 'HTTP 400 X'],
    [{ status: 'X', message: 'Request payload size exceeds the limit' }, 'source_image', 'HTTP 400 X'],
    [{ status: 'X', message: 'Something else' }, 'unknown_answer', 'HTTP 400 X'],
    [{ status: 'X' }, 'unknown_answer', 'HTTP 400 X'],
  ])('A 400 of Gemini with %j is refused as %s', async (error, reason, detail) => {
    expect(await answerTo({ error }, 400)).toEqual(refused(reason, detail));
  });
});

describe('Black Forest Labs', () => {
  const submitted = (status: number, body: object): Promise<ProviderAnswer> => {
    reply = { status, body };
    return createBfl(settings).submit(aJob({ sourceCount: 1 }), never);
  };
  const polled = (body: object, status = 200): Promise<ProviderAnswer> | undefined => {
    reply = { status, body };
    return createBfl(settings).poll?.(`0 ${vendor.url}/job`, aJob({ sourceCount: 1 }), never);
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

  it.each<[object, string, string]>([
    [{ status: 'Ready', result: {} }, 'nothing_rendered', 'HTTP 200 Ready'],
    [{ status: 'Ready', result: { sample: 7 } }, 'nothing_rendered', 'HTTP 200 Ready'],
    [{ status: 'Resting' }, 'unknown_answer', 'HTTP 200 Resting'],
    [{ status: 7 }, 'unknown_answer', 'HTTP 200'],
  ])('The answer %j of Black Forest Labs to a poll is refused as %s', async (body, reason, detail) => {
    expect(await polled(body)).toEqual(refused(reason, detail));
  });

  it('Black Forest Labs gets an empty prompt when the job has none', async () => {
    reply = { status: 429 };
    await createBfl(settings).submit(aJob({ prompt: null }), never);
    expect(vendor.received.at(-1)?.json).toMatchObject({ prompt: '' });
  });
});

describe('fal', () => {
  const addresses = {
    status_url: `${vendor.url}/s`,
    response_url: `${vendor.url}/r`,
    cancel_url: `${vendor.url}/c`,
  };
  const polled = (
    status: Reply,
    result: Reply = { status: 200, body: {} },
  ): Promise<ProviderAnswer> | undefined => {
    reply = (path) => (path === '/s' ? status : result);
    return createFal(settings).poll?.(`0 ${vendor.url}/s ${vendor.url}/r ${vendor.url}/c`, aJob(), never);
  };
  const completed: Reply = { status: 200, body: { status: 'COMPLETED' } };

  it.each(['status_url', 'response_url', 'cancel_url'])(
    'An accepted request of fal without %s is refused',
    async (missing) => {
      reply = { status: 200, body: { ...addresses, [missing]: undefined } };
      expect(await createFal(settings).submit(aJob(), never)).toEqual(refused('unknown_answer', 'HTTP 200'));
    },
  );

  it.each(['status_url', 'response_url', 'cancel_url'])(
    'An accepted request of fal with a foreign %s is refused',
    async (one) => {
      reply = { status: 200, body: { ...addresses, [one]: 'https://example.com/' } };
      expect(await createFal(settings).submit(aJob(), never)).toEqual(
        refused('unknown_answer', 'an address of another host'),
      );
    },
  );

  it('A request that fal accepts with another status than 200 is refused', async () => {
    reply = { status: 201, body: addresses };
    expect(await createFal(settings).submit(aJob(), never)).toEqual(refused('unknown_answer', 'HTTP 201'));
  });

  it.each([
    ['foreign', 'own'],
    ['own', 'foreign'],
  ])(
    'fal is not polled when the status address is %s and the result address is %s',
    async (status, result) => {
      const address = (which: string): string =>
        which === 'own' ? `${vendor.url}/s` : 'https://example.com/s';
      const before = vendor.received.length;
      const jobId = `0 ${address(status)} ${address(result)} ${vendor.url}/c`;
      expect(await createFal(settings).poll?.(jobId, aJob(), never)).toEqual(
        refused('unknown_answer', 'an address of another host'),
      );
      expect(vendor.received).toHaveLength(before);
    },
  );

  it.each<[string, Reply, string, string]>([
    ['a list without a picture', { status: 200, body: { images: [] } }, 'nothing_rendered', 'HTTP 200'],
    [
      'a picture without an address',
      { status: 200, body: { images: [{ url: 7 }] } },
      'nothing_rendered',
      'HTTP 200',
    ],
    ['no list', { status: 200, body: {} }, 'unknown_answer', 'HTTP 200'],
    ['a list with another status', { status: 201, body: { images: [{}] } }, 'unknown_answer', 'HTTP 201'],
    [
      'a flagged picture',
      { status: 200, body: { images: [{ url: 'x' }], has_nsfw_concepts: [false, true] } },
      'prompt',
      'HTTP 200 has_nsfw_concepts',
    ],
    ['our key refused', { status: 403, body: {} }, 'credentials', 'HTTP 403'],
    [
      'a code of the model',
      { status: 422, body: { detail: [{ type: 'new_code' }] } },
      'failed',
      'HTTP 422 new_code',
    ],
    [
      'a code that is no text',
      { status: 422, body: { detail: [{ type: 7 }] } },
      'unknown_answer',
      'HTTP 422',
    ],
    [
      'a policy that the source images broke',
      {
        status: 422,
        body: { detail: [{ type: 'content_policy_violation', loc: ['body', 'image_urls', 0] }] },
      },
      'source_image',
      'HTTP 422 content_policy_violation',
    ],
    [
      'a failure in the field of the source images',
      { status: 422, body: { detail: [{ type: 'other', loc: ['body', 'image_urls', 0] }] } },
      'failed',
      'HTTP 422 other',
    ],
    [
      'a code such as constructor',
      { status: 422, body: { error_type: 'constructor' } },
      'failed',
      'HTTP 422 constructor',
    ],
  ])('A result of fal with %s is refused', async (_what, result, reason, detail) => {
    expect(await polled(completed, result)).toEqual(refused(reason, detail));
  });

  it.each<[Reply, string, string]>([
    [{ status: 200, body: { status: 'RESTING' } }, 'unknown_answer', 'HTTP 200 RESTING'],
    [{ status: 404, body: {} }, 'unknown_answer', 'HTTP 404'],
    [{ status: 401, body: {} }, 'credentials', 'HTTP 401'],
  ])('The status %j of fal is refused as %s', async (status, reason, detail) => {
    expect(await polled(status)).toEqual(refused(reason, detail));
  });

  it.each(['IN_QUEUE', 'IN_PROGRESS'])('A request of fal in the state %s is polled again', async (status) => {
    expect(await polled({ status: 200, body: { status } })).toMatchObject({
      kind: 'pending',
      pollAfterMillis: 500,
    });
  });

  it.each<[string, object]>([
    ['fal-ai/flux-2-pro', { safety_tolerance: '2' }],
    ['fal-ai/flux-2-max', { safety_tolerance: '2' }],
    ['fal-ai/flux-2/klein/4b', { num_images: 1 }],
    ['fal-ai/another', {}],
  ])('fal gets the fields of the model %s', async (providerModel, own) => {
    reply = { status: 429 };
    await createFal(settings).submit(aJob({ providerModel, prompt: null }), never);
    expect(vendor.received.at(-1)?.json).toEqual({
      prompt: '',
      image_size: { width: 1024, height: 1024 },
      output_format: 'jpeg',
      enable_safety_checker: true,
      ...own,
    });
  });
});

describe('Replicate', () => {
  const polled = (body: object, status = 200): Promise<ProviderAnswer> | undefined => {
    reply = { status, body };
    return createReplicate(settings).poll?.('0 job', aJob(), never);
  };
  const submitted = (status: number, body: object): Promise<ProviderAnswer> => {
    reply = { status, body };
    return createReplicate(settings).submit(aJob(), never);
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
    [{ status: 'canceled' }, 'timed_out', 'HTTP 200 canceled'],
    [{ status: 'aborted' }, 'timed_out', 'HTTP 200 aborted'],
    [{ status: 'resting' }, 'unknown_answer', 'HTTP 200 resting'],
    [{ status: 7 }, 'unknown_answer', 'HTTP 200'],
  ])('The prediction %j of Replicate is refused as %s', async (body, reason, detail) => {
    expect(await polled(body)).toEqual(refused(reason, detail));
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
    reply = (path) =>
      path === '/v1/files'
        ? { status: 201, body: { urls: { get: `${vendor.url}/v1/files/1` } } }
        : { status: 201, body: { id: 'abc' } };
    await createReplicate(settings).submit(withSources(256_000, 256_001), never);
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
    reply = { status, body: { urls: { get: `${vendor.url}/v1/files/1` } } };
    expect(await createReplicate(settings).submit(withSources(256_001), never)).toEqual(
      refused(reason, `HTTP ${status}`),
    );
  });

  it('A single source image has its own field for klein and for the other models', async () => {
    reply = { status: 429 };
    const job = { ...withSources(1), providerModel: 'klein' };
    await createReplicate(settings).submit(job, never);
    expect(vendor.received.at(-1)?.json).toMatchObject({ input: { images: ['data:image/png;base64,AA=='] } });
    await createReplicate(settings).submit({ ...job, providerModel: 'pro', prompt: null }, never);
    expect(vendor.received.at(-1)?.json).toMatchObject({
      input: { prompt: '', input_images: ['data:image/png;base64,AA=='] },
    });
    await createReplicate(settings).submit(aJob({ providerModel: 'klein' }), never);
    expect(vendor.received.at(-1)?.json).not.toHaveProperty('input.images');
  });
});

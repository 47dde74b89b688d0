import { afterAll, describe, expect, it } from 'vitest';
import { pictureOf, startFakeVendor } from '../../lab/vendors/fakes/fake-vendor.ts';
import { fakeGoogleKey, startFakeGoogle } from '../../lab/vendors/fakes/google/server.ts';
import { createGoogle } from '../../service/vendors/google.ts';
import { everySize, headed, headerOf, jobsLike, lastReceived, talkTo } from './vendor-talk.ts';
import type { ProviderAnswer } from '../../service/vendors/provider.ts';
import { never, refused, startAnsweringVendor } from './answering-vendor.ts';

const prompt = 'A lighthouse that nobody may read about';

const fake = await startFakeGoogle(headed);
afterAll(() => fake.stop());

const { answerTo } = talkTo({ name: 'google', create: createGoogle, fake, key: fakeGoogleKey });
const aJob = jobsLike({ providerModel: 'gemini-3.1-flash-image', prompt, outputFormat: 'jpeg' });

describe('An answer of Gemini', () => {
  it('The answer is the final picture and not a draft of the model', async () => {
    const answer = await answerTo(aJob({ aspectRatio: '16:9' }));
    expect(headerOf(answer)).toEqual({ contentType: 'image/jpeg', width: 1376, height: 768 });
  });

  it('An answer with a block and a picture is a refusal', async () => {
    const body = {
      candidates: [
        {
          finishReason: 'IMAGE_SAFETY',
          content: { parts: [{ inlineData: { mimeType: 'image/jpeg', data: 'eHg=' } }] },
        },
      ],
    };
    const other = await startFakeVendor(() => ({ status: 200, body }));
    const answer = await answerTo(aJob(), { baseUrl: other.url });
    expect(answer).toMatchObject({ reason: 'prompt', detail: 'HTTP 200 IMAGE_SAFETY' });
    await other.stop();
  });
});

describe('The models of Gemini', () => {
  it.each([
    ['gemini-nano-banana-2.1', '4K', '16:9', 5504, 3072],
    ['gemini-3.1-flash-lite-image', '1K', '21:9', 1584, 672],
  ] as const)('%s renders %s in %s', async (providerModel, resolution, aspectRatio, width, height) => {
    const answer = await answerTo(aJob({ providerModel, resolution, aspectRatio }));
    expect(headerOf(answer)).toEqual({ contentType: 'image/jpeg', width, height });
  });
});

describe('A request to Gemini', () => {
  it('A request asks for one JPEG of the ratio and size, with the seed if there is one', async () => {
    await answerTo(
      aJob({
        providerModel: 'gemini-3-pro-image',
        prompt: 'A cat [row:throttled]',
        resolution: '4K',
        aspectRatio: '21:9',
        seed: 7,
      }),
    );
    const { method, path, headers, json } = lastReceived(fake);
    expect([method, path]).toEqual(['POST', '/v1beta/models/gemini-3-pro-image:generateContent']);
    expect([headers['x-goog-api-key'], headers['authorization'], headers['content-type']]).toEqual([
      fakeGoogleKey,
      undefined,
      'application/json',
    ]);
    expect(json).toEqual({
      contents: [{ role: 'user', parts: [{ text: 'A cat [row:throttled]' }] }],
      generationConfig: {
        responseModalities: ['IMAGE'],
        imageConfig: { aspectRatio: '21:9', imageSize: '4K' },
        responseFormat: { image: { mimeType: 'IMAGE_JPEG' } },
        seed: 7,
      },
    });
  });

  it('A request carries the source images after the prompt, each with the type of its bytes', async () => {
    await answerTo(aJob({ sourceCount: 2 }));
    expect(lastReceived(fake).json).toMatchObject({
      contents: [
        {
          parts: [
            { text: prompt },
            { inlineData: { mimeType: 'image/png', data: pictureOf('png', 96, 64).toString('base64') } },
            { inlineData: { mimeType: 'image/jpeg' } },
          ],
        },
      ],
    });
  });

  it('A request may hold source images and no prompt', async () => {
    expect(await answerTo(aJob({ prompt: null, sourceCount: 1 }))).toMatchObject({ kind: 'rendered' });
    expect(lastReceived(fake).json).toMatchObject({
      contents: [{ role: 'user', parts: [{ inlineData: {} }] }],
    });
  });

  it.each(everySize)(
    'Gemini accepts the request for $aspectRatio at $resolution',
    async ({ resolution, aspectRatio }) => {
      // The fake checks every field before it answers that it is throttled.
      expect(
        await answerTo(aJob({ prompt: 'A cat [row:throttled]', resolution, aspectRatio })),
      ).toMatchObject({ reason: 'unavailable' });
    },
  );

  it.each(['png', 'webp'] as const)(
    'A job for %s is refused and not sent, because Gemini does not render it',
    async (outputFormat) => {
      const before = fake.received.length;
      expect(await answerTo(aJob({ outputFormat }))).toEqual(
        refused('unknown_answer', `${outputFormat} is not rendered`),
      );
      expect(fake.received.length).toBe(before);
    },
  );
});

describe('The fake of Gemini', () => {
  const url = '/v1beta/models/gemini-3.1-flash-image:generateContent';
  const key = { 'x-goog-api-key': fakeGoogleKey };
  const part = { text: 'A cat' };
  const bodyOf = (generationConfig: object = {}, parts: object[] = [part]): object => ({
    contents: [{ parts }],
    generationConfig,
  });
  const picture = (mimeType: string, data: string): object => ({ inlineData: { mimeType, data } });
  const png = picture('image/jpeg', pictureOf('png', 8, 8).toString('base64'));

  const wrongConfig = (config: object): readonly [string, Record<string, string>, object, number] => [
    url,
    key,
    bodyOf(config),
    400,
  ];
  const wrongParts = (...parts: object[]): readonly [string, Record<string, string>, object, number] => [
    url,
    key,
    bodyOf({}, parts),
    400,
  ];
  it.each<[string, ...(readonly [string, Record<string, string>, object, number])]>([
    ['a call without a key', url, {}, bodyOf(), 403],
    ['another key', url, { 'x-goog-api-key': 'other' }, bodyOf(), 400],
    ['another path', '/v1/models/gemini-3.1-flash-image:generateContent', key, bodyOf(), 404],
    ['another model', '/v1beta/models/imagen-4:generateContent', key, bodyOf(), 404],
    ['an unknown field', url, key, { ...bodyOf(), model: 'x' }, 400],
    ["Vertex's output type", ...wrongConfig({ imageConfig: { outputMimeType: 'image/png' } })],
    ['another ratio', ...wrongConfig({ imageConfig: { aspectRatio: '7:5' } })],
    ['another size', ...wrongConfig({ imageConfig: { imageSize: '2k' } })],
    ['PNG', ...wrongConfig({ responseFormat: { image: { mimeType: 'IMAGE_PNG' } } })],
    ['nothing to say', ...wrongParts()],
    ['an empty text', ...wrongParts({ text: '' })],
    ['an image of another type than it says', ...wrongParts(part, png)],
    ['an image that is none', ...wrongParts(picture('image/png', 'eHg='))],
    ['too many images', ...wrongParts(...Array<object>(15).fill(png))],
  ])('The fake refuses %s', async (_, path, headers, body, status) => {
    const response = await fetch(`${fake.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
    expect(response.status).toBe(status);
    await response.text();
  });
});

const vendor = await startAnsweringVendor();
afterAll(() => vendor.stop());
const flashJob = jobsLike({ providerModel: 'model', outputFormat: 'jpeg' });

describe('An answer of Gemini', () => {
  const answerTo = (body: object, status = 200): Promise<ProviderAnswer> => {
    vendor.answerWith({ status, body });
    return createGoogle(vendor.settings).submit(flashJob(), never);
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
    [{ details: [{}, { reason: 'API_KEY_INVALID' }] }, 'credentials', 'HTTP 400 API_KEY_INVALID'],
    [{ status: 'X', message: 'Provided image is not valid.' }, 'source_image', 'HTTP 400 X'],
    [{ status: 'X', message: 'Unable to process input image.' }, 'source_image', 'HTTP 400 X'],
    [{ status: 'X', message: 'Request payload size exceeds the limit' }, 'source_image', 'HTTP 400 X'],
    [{ status: 'X', message: 'Something else' }, 'unknown_answer', 'HTTP 400 X'],
    [{ status: 'X' }, 'unknown_answer', 'HTTP 400 X'],
  ])('A 400 of Gemini with %j is refused as %s', async (error, reason, detail) => {
    expect(await answerTo({ error }, 400)).toEqual(refused(reason, detail));
  });
});

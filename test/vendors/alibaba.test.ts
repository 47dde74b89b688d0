import { afterAll, describe, expect, it } from 'vitest';
import { fakeAlibabaKey, startFakeAlibaba } from '../../lab/vendors/fakes/alibaba/server.ts';
import { pictureOf } from '../../lab/vendors/fakes/fake-vendor.ts';
import type { RefusalReason } from '../../service/contract/failures.ts';
import { aspectRatios } from '../../service/contract/request-fields.ts';
import { alibabaSizeOf, createAlibaba } from '../../service/vendors/alibaba.ts';
import { never, refused, startAnsweringVendor } from './answering-vendor.ts';
import {
  everyCall,
  headed,
  headerOf,
  jobsLike,
  lastReceived,
  noCredential,
  received,
  talkTo,
} from './vendor-talk.ts';

const fake = await startFakeAlibaba(headed);
const answering = await startAnsweringVendor();
afterAll(() => Promise.all([fake.stop(), answering.stop()]));

const { settings, speak, answerTo } = talkTo({
  name: 'alibaba',
  create: createAlibaba,
  fake,
  key: fakeAlibabaKey,
});
const aJob = jobsLike({ providerModel: 'qwen-image-3.0', prompt: 'Some secret' });
const path = '/api/v1/services/aigc/multimodal-generation/generation';
const dataUri = (format: 'png' | 'jpeg'): string =>
  `data:image/${format};base64,${pictureOf(format, 96, 64).toString('base64')}`;

describe('Each answer of Alibaba', () => {
  it('The picture has the requested size', async () => {
    const answer = await answerTo(aJob({ resolution: '2K', aspectRatio: '16:9' }));
    expect(headerOf(answer)).toEqual({ contentType: 'image/png', width: 2560, height: 1440 });
  });

  const submitted = (status: number, body: object): Promise<unknown> => {
    answering.answerWith({ status, body });
    return createAlibaba(answering.settings).submit(aJob(), never);
  };

  it.each<[string, RefusalReason]>([
    ['DataInspectionFailed', 'prompt'],
    ['data_inspection_failed', 'prompt'],
    ['IPInfringementSuspect', 'prompt'],
    ['InvalidParameter.DataInspection', 'source_image'],
    ['BadRequest.InputDownloadFailed', 'source_image'],
    ['InvalidImage.FileFormat', 'source_image'],
    ['InvalidImage', 'source_image'],
    ['InvalidImageFormat', 'source_image'],
    ['InvalidImageResolution', 'source_image'],
    ['Arrearage', 'credentials'],
    ['AllocationQuota.FreeTierOnly', 'credentials'],
    ['InternalError.Timeout', 'timed_out'],
    ['RequestTimeOut', 'timed_out'],
    ['InvalidParameter', 'unknown_answer'],
    ['constructor', 'unknown_answer'],
  ])('An error with the code %s is refused as %s, also when its status is 200', async (code, reason) => {
    expect(await submitted(400, { code })).toEqual(refused(reason, `HTTP 400 ${code}`));
    expect(await submitted(200, { code, output: { choices: [] } })).toEqual(
      refused(reason, `HTTP 200 ${code}`),
    );
  });

  it.each<[number, RefusalReason]>([
    [401, 'credentials'],
    [402, 'credentials'],
    [403, 'credentials'],
    [404, 'credentials'],
    [413, 'source_image'],
    [418, 'unknown_answer'],
    [429, 'unavailable'],
    [500, 'failed'],
    [502, 'failed'],
    [503, 'unavailable'],
    [504, 'timed_out'],
  ])('An error with the status %i and no known code is refused as %s', async (status, reason) => {
    expect(await submitted(status, { code: 7 })).toEqual(refused(reason, `HTTP ${status}`));
  });

  it('The first picture of the content is taken, and texts are passed over', async () => {
    const image = (name: string): object => ({ image: `${answering.url}/${name}.png` });
    const content = [{ text: 'Here:' }, { image: 7 }, image('first'), image('second')];
    expect(await submitted(200, { code: '', output: { choices: [{ message: { content } }] } })).toEqual({
      kind: 'pending',
      jobId: `0 ${answering.url}/first.png`,
      pollAfterMillis: 0,
    });
  });
});

describe('A request to Alibaba', () => {
  it('A request asks for one picture without a watermark, and lets the vendor rewrite the prompt', async () => {
    const [submitted, downloaded, ...more] = await received(fake, () =>
      speak(aJob({ prompt: 'a cat', resolution: '2K', aspectRatio: '3:2' })),
    );
    expect(submitted).toMatchObject({
      method: 'POST',
      path,
      headers: { authorization: `Bearer ${fakeAlibabaKey}`, 'content-type': 'application/json' },
    });
    expect(submitted?.json).toEqual({
      model: 'qwen-image-3.0',
      input: { messages: [{ role: 'user', content: [{ text: 'a cat' }] }] },
      parameters: { n: 1, size: '2496*1664', prompt_extend: true, watermark: false },
    });
    expect([downloaded?.method, downloaded?.headers['authorization'], more]).toEqual(['GET', undefined, []]);
  });

  it('A request with a seed draws the prompt as it is written', async () => {
    await answerTo(aJob({ seed: 0, prompt: '[row:throttled]' }));
    expect(lastReceived(fake).json).toMatchObject({ parameters: { seed: 0, prompt_extend: false } });
  });

  it('A request carries the source images in order before the prompt', async () => {
    const [submitted] = await received(fake, () => speak(aJob({ prompt: 'a cat', sourceCount: 3 })));
    expect(submitted?.json).toMatchObject({
      input: {
        messages: [
          {
            content: [
              { image: dataUri('png') },
              { image: dataUri('jpeg') },
              { image: dataUri('png') },
              { text: 'a cat' },
            ],
          },
        ],
      },
    });
  });

  it.each(['1K', '2K'] as const)('At %s the vendor takes and bills every ratio', async (resolution) => {
    for (const aspectRatio of aspectRatios) {
      const asked = aJob({ resolution, aspectRatio, prompt: '[row:throttled]' });
      expect(await answerTo(asked), aspectRatio).toMatchObject({ reason: 'unavailable' });
      const [width = 0, height = 0] = alibabaSizeOf(resolution, aspectRatio).split('*').map(Number);
      const [across = 1, down = 1] = aspectRatio.split(':').map(Number);
      expect([width % 16, height % 16, width * height <= 2_250_000]).toEqual([0, 0, resolution === '1K']);
      expect(Math.abs((width * down) / (height * across) - 1)).toBeLessThan(0.01);
    }
  });

  it('A request for 4K throws, because the catalog has no such route', async () => {
    await expect(speak(aJob({ resolution: '4K' }))).rejects.toThrow('Qwen-Image renders no 4K');
  });
});

describe('A rendered picture', () => {
  it.each(['download-broke', 'download-down'])(
    'A picture is rendered once and fetched again after a failed download (%s)',
    async (row) => {
      const before = fake.renderings();
      expect((await speak(aJob({ prompt: `[row:${row}]` }))).waits).toEqual([0, 5_000]);
      expect(fake.renderings() - before).toBe(1);
    },
  );

  it('A download that fails again and again is repeated ever more slowly', async () => {
    const waits: number[] = [];
    answering.answerWith({ status: 503 });
    let jobId = `0 ${answering.url}/a.png`;
    for (let poll = 0; poll < 2; poll += 1) {
      const answer = await createAlibaba(answering.settings).poll?.(jobId, aJob(), never);
      if (answer?.kind !== 'pending') throw new Error('the job has ended');
      waits.push(answer.pollAfterMillis);
      jobId = answer.jobId;
    }
    expect([waits, jobId]).toEqual([[5_000, 5_000], `2 ${answering.url}/a.png`]);
  });

  it('A picture whose address is on another host, or no address, is not fetched', async () => {
    const provider = createAlibaba(settings());
    const sent = await received(fake, async () => {
      for (const jobId of ['0 https://example.com/a.png', '0 http://oss-accelerate.aliyuncs.com/a', 'job'])
        expect(await everyPoll(provider, jobId)).toEqual(
          refused('unknown_answer', 'an address of another host'),
        );
    });
    expect(sent).toEqual([]);
  });

  const everyPoll = async (provider: ReturnType<typeof createAlibaba>, jobId: string): Promise<unknown> =>
    (await everyCall({ ...provider, submit: async () => Promise.resolve(noCredential) }, aJob(), jobId))[1];
});

describe('The fake refuses what the vendor would refuse', () => {
  const text = { text: 'a cat' };
  const good = {
    model: 'qwen-image-3.0',
    input: { messages: [{ role: 'user', content: [text] }] },
    parameters: { size: '1024*1024', n: 1 },
  };
  const bearer = { authorization: `Bearer ${fakeAlibabaKey}` };
  const withMessages = (...messages: readonly object[]): object => ({ ...good, input: { messages } });
  const withContent = (content: readonly object[]): object => withMessages({ role: 'user', content });
  const withParameters = (parameters: object): object => ({ ...good, parameters });
  const send = async (
    body: object,
    { to = path, method = 'POST', headers = bearer }: { to?: string; method?: string; headers?: object } = {},
  ): Promise<unknown[]> => {
    const response = await fetch(`${fake.url}${to}`, {
      method,
      headers: { 'content-type': 'application/json', ...headers },
      ...(method === 'POST' && { body: JSON.stringify(body) }),
    });
    return [response.status, ((await response.json()) as { code?: string }).code];
  };

  it('The fake accepts what the vendor would accept', async () => {
    expect(await send(good)).toEqual([200, undefined]);
    expect(await send(withContent([{ image: dataUri('png') }, text]))).toEqual([200, undefined]);
  });

  it.each<[string, object, string?]>([
    ['a field that it does not know', { ...good, prompt: 'a cat' }],
    ['a parameter that it does not know', withParameters({ quality: 'high' })],
    ['seven pictures', withParameters({ n: 7 })],
    ['a size in the form of OpenAI', withParameters({ size: '1024x1024' })],
    ['too many pixels', withParameters({ size: '2064*2048' })],
    ['too few pixels', withParameters({ size: '496*512' })],
    ['a ratio above 8', withParameters({ size: '4096*496' })],
    ['a seed above the range', withParameters({ seed: 2_147_483_648 })],
    ['a word in place of a switch', withParameters({ prompt_extend: 'true' })],
    ['a watermark by a number', withParameters({ watermark: 1 })],
    ['no text', withContent([{ image: dataUri('png') }])],
    ['two texts', withContent([text, text])],
    ['a fourth image', withContent([...Array<object>(4).fill({ image: dataUri('png') }), text])],
    [
      'an image of another type than it says',
      withContent([{ image: dataUri('png').replace('png', 'jpeg') }, text]),
      'InvalidParameter.DataInspection',
    ],
    ['a second message', withMessages(...Array<object>(2).fill({ role: 'user', content: [text] }))],
    ['a message of the system', withMessages({ role: 'system', content: [text] })],
  ])('The fake refuses %s', async (_what, body, code = 'InvalidParameter') =>
    expect(await send(body)).toEqual([400, code]),
  );

  it('The fake refuses another key, model, path and method, and an asynchronous call', async () => {
    expect(await send(good, { headers: {} })).toEqual([401, 'InvalidApiKey']);
    expect(await send(good, { headers: { authorization: 'Bearer other' } })).toEqual([401, 'InvalidApiKey']);
    expect(await send({ ...good, model: 'qwen-image-9' })).toEqual([404, 'ModelNotFound']);
    expect(await send(good, { to: '/api/v1/tasks' })).toEqual([404, 'NotFound']);
    expect(await send(good, { method: 'GET' })).toEqual([405, 'InvalidRequestMethod']);
    expect(await send(good, { headers: { ...bearer, 'x-dashscope-async': 'enable' } })).toEqual([
      403,
      'AccessDenied',
    ]);
  });

  it('The storage refuses an authorization beside the signed address, and an unknown picture', async () => {
    await speak(jobsLike({ providerModel: 'qwen-image-3.0' })());
    const { path: signed } = lastReceived(fake);
    const status = async (to: string, headers = {}): Promise<number> =>
      (await fetch(`${fake.url}${to}`, { headers })).status;
    expect(await status(signed)).toBe(200);
    expect(await status(signed, bearer)).toBe(400);
    expect(await status('/pictures/9999.png?Signature=fake')).toBe(404);
  });
});

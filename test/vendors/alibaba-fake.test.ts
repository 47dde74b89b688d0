/** The fake of Alibaba Model Studio refuses what the vendor would refuse. */
import { afterAll, describe, expect, it } from 'vitest';
import { fakeAlibabaKey, startFakeAlibaba } from '../../lab/vendors/fakes/alibaba/server.ts';
import { pictureOf } from '../../lab/vendors/fakes/pictures.ts';
import { createAlibaba } from '../../service/vendors/alibaba.ts';
import { jobsLike, lastReceived, talkTo } from './vendor-talk.ts';

const fake = await startFakeAlibaba();
afterAll(() => fake.stop());
const { speak } = talkTo({ name: 'alibaba', create: createAlibaba, fake, key: fakeAlibabaKey });
const path = '/api/v1/services/aigc/multimodal-generation/generation';
const dataUri = (format: 'png' | 'jpeg'): string =>
  `data:image/${format};base64,${pictureOf(format, 96, 64).toString('base64')}`;

describe('The fake refuses what the vendor would refuse', () => {
  const text = { text: 'a cat' };
  const good = {
    model: 'qwen-image-3.0',
    input: { messages: [{ role: 'user', content: [text] }] },
    parameters: { size: '1024*1024', n: 1 },
  };
  const bearer = { authorization: `Bearer ${fakeAlibabaKey}` };
  const withContent = (content: readonly object[]): object => ({
    ...good,
    input: { messages: [{ role: 'user', content }] },
  });
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

  it.each<[string, object, string]>([
    ['a field that it does not know', { ...good, prompt: 'a cat' }, 'InvalidParameter'],
    ['a parameter that it does not know', withParameters({ quality: 'high' }), 'InvalidParameter'],
    ['seven pictures', withParameters({ n: 7 }), 'InvalidParameter'],
    ['a size in the form of OpenAI', withParameters({ size: '1024x1024' }), 'InvalidParameter'],
    ['too many pixels', withParameters({ size: '2064*2048' }), 'InvalidParameter'],
    ['too few pixels', withParameters({ size: '496*512' }), 'InvalidParameter'],
    ['a ratio above 8', withParameters({ size: '4096*496' }), 'InvalidParameter'],
    ['a seed above the range', withParameters({ seed: 2_147_483_648 }), 'InvalidParameter'],
    ['a word in place of a switch', withParameters({ prompt_extend: 'true' }), 'InvalidParameter'],
    ['a watermark by a number', withParameters({ watermark: 1 }), 'InvalidParameter'],
    ['no text', withContent([{ image: dataUri('png') }]), 'InvalidParameter'],
    ['two texts', withContent([text, text]), 'InvalidParameter'],
    [
      'a fourth image',
      withContent([...Array<object>(4).fill({ image: dataUri('png') }), text]),
      'InvalidParameter',
    ],
    [
      'an image of another type than it says',
      withContent([{ image: dataUri('png').replace('png', 'jpeg') }, text]),
      'InvalidParameter.DataInspection',
    ],
    [
      'a second message',
      {
        ...good,
        input: {
          messages: [
            { role: 'user', content: [text] },
            { role: 'user', content: [text] },
          ],
        },
      },
      'InvalidParameter',
    ],
    [
      'a message of the system',
      { ...good, input: { messages: [{ role: 'system', content: [text] }] } },
      'InvalidParameter',
    ],
  ])('The fake refuses %s', async (_what, body, code) => expect(await send(body)).toEqual([400, code]));

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

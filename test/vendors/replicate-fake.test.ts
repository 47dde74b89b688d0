/** The fake of Replicate: it refuses what the vendor would refuse, so that a wrong request fails a test. */
import { afterAll, describe, expect, it } from 'vitest';
import { startFakeReplicate } from '../../lab/vendors/fakes/replicate/server.ts';

const key = 'fake-replicate-key';

const fake = await startFakeReplicate();
afterAll(() => fake.stop());

describe('The fake of Replicate', () => {
  const good = { prompt: 'a cat', aspect_ratio: 'custom', width: 1024, height: 1024, output_format: 'png' };
  const pro = 'black-forest-labs/flux-2-pro';
  const send = async (body: object, model = pro, headers: Record<string, string> = {}): Promise<number> => {
    const all = { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers };
    return (
      await fetch(`${fake.url}/v1/models/${model}/predictions`, {
        method: 'POST',
        headers: all,
        body: JSON.stringify(body),
      })
    ).status;
  };

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
    expect(
      (
        await fetch(`${fake.url}/v1/files`, {
          method: 'POST',
          headers: { authorization: `Bearer ${key}` },
          body: 'content',
        })
      ).status,
    ).toBe(400);
  });
});

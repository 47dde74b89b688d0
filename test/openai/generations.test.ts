import { describe, expect, it } from 'vitest';
import { asMicros } from '../../service/values/money.ts';
import { namedRequest, now } from '../fixtures/records.ts';
import { base64Of, completing, type Course, failing, pictureAt, scene, shownAt } from './openai-fixture.ts';

const body = { model: 'sandbox-standard', prompt: 'a quiet lake' };
const dataOf = (answer: { body: Record<string, unknown> }): unknown => answer.body['data'];

describe('POST /images/generations', () => {
  it('The answer is 200 with the picture in base64, and with what it cost', async () => {
    const { generate, stage } = scene();
    const answer = await generate(body);
    const id = stage.orders[0]?.creations[0].id;
    expect(answer).toMatchObject({
      status: 200,
      headers: {
        'content-type': 'application/json',
        'x-request-id': namedRequest,
        'x-darkroom-creation-id': id,
        'x-darkroom-cost': '0.04',
        ratelimit: '"post";r=59;t=30',
      },
    });
    expect(answer.body).toEqual({
      created: now / 1_000 + 2,
      data: [shownAt(0)],
      output_format: 'png',
      size: '1024x1024',
      quality: 'medium',
      background: 'opaque',
      darkroom: { creation_ids: [id], cost: 0.04, currency: 'USD' },
    });
    expect(answer.headers['x-darkroom-ignored']).toBeUndefined();
    expect(stage.log.lines).toEqual(['info creation_accepted']);
  });

  it('A picture of many parts arrives whole', async () => {
    const bytes = Uint8Array.from({ length: 500_001 }, (_, index) => index % 251);
    const { generate } = scene(completing, { images: { get: async () => Promise.resolve(bytes) } });
    const [picture] = dataOf(await generate(body)) as { b64_json: string }[];
    expect(Buffer.from(picture?.b64_json ?? '', 'base64').equals(bytes)).toBe(true);
  });

  it('response_format url gives the address, and reads no picture', async () => {
    const { generate, read } = scene();
    const answer = await generate({ ...body, response_format: 'url' });
    expect(dataOf(answer)).toEqual([{ url: 'https://results.test/results/picture-0.png' }]);
    expect(read).toEqual([]);
  });

  it.each<[object, string]>([
    [{ model: 'sandbox-standard' }, 'b64_json url'],
    [{ model: 'dall-e-2' }, 'b64_json url'],
    [{}, 'b64_json url'],
    [{ model: 'gpt-image-1' }, 'b64_json'],
    [{ model: 'dall-e-2', response_format: 'b64_json' }, 'b64_json'],
    [{ model: 'gpt-image-1', response_format: 'url' }, 'url'],
  ])('The picture of the request %j is shown as %s', async (asked, members) => {
    const { text } = await scene().generate({ prompt: 'a quiet lake', ...asked });
    const { b64_json, url } = shownAt(0) as Record<string, string>;
    const shown = Object.fromEntries(members.split(' ').map((name) => [name, { b64_json, url }[name]]));
    expect(text).toContain(`"data":[${JSON.stringify(shown)}]`);
  });

  it('A picture whose address has expired is shown in base64 alone', async () => {
    const expired: Course = (...given) => ({ ...completing(...given), resultsExpireAt: now });
    expect(dataOf(await scene(expired).generate(body))).toEqual([{ b64_json: base64Of(pictureAt(0).key) }]);
  });

  it('n creations are charged in one order and all started, and a seed is another one for each', async () => {
    const { generate, stage, read } = scene();
    const answer = await generate({ ...body, n: 3, seed: 7, user: 'u', metadata: { a: 'b' } });
    expect(stage.orders).toHaveLength(1);
    const creations = stage.orders[0]?.creations ?? [];
    expect(creations.map(({ seed, user, metadata }) => [seed, user, metadata])).toEqual([
      [7, 'u', { a: 'b' }],
      [8, 'u', { a: 'b' }],
      [9, 'u', { a: 'b' }],
    ]);
    expect(stage.started).toEqual(creations.map(({ id }) => id));
    expect(new Set(stage.started).size).toBe(3);
    expect(answer.headers).toMatchObject({
      'x-darkroom-cost': '0.12',
      'x-darkroom-creation-id': stage.started.join(','),
    });
    expect(dataOf(answer)).toEqual([0, 1, 2].map(shownAt));
    expect(read).toEqual([0, 1, 2].map((place) => pictureAt(place).key));
  });

  it('Of a request without a seed, each creation after the first has its number and no seed', async () => {
    const { generate, stage } = scene();
    await generate({ ...body, n: 3 });
    const creations = stage.orders[0]?.creations ?? [];
    expect(creations.map(({ seed, index }) => [seed, index])).toEqual([
      [null, undefined],
      [null, 1],
      [null, 2],
    ]);
  });

  it('After the largest seed comes 0', async () => {
    const { generate, stage } = scene();
    await generate({ ...body, n: 2, seed: 2_147_483_647 });
    expect(stage.orders[0]?.creations.map(({ seed }) => seed)).toEqual([2_147_483_647, 0]);
  });

  it('Size, quality and an alias choose model, resolution and ratio, and the format goes to the provider', async () => {
    const { generate, stage } = scene(completing, { setting: { state: { enabledProviders: ['openai'] } } });
    await generate({
      prompt: 'p',
      model: 'gpt-image-2',
      size: '2560x1440',
      quality: 'hd',
      output_format: 'webp',
    });
    expect(stage.orders[0]?.creations[0]).toMatchObject({
      model: 'gpt-image-2-high',
      resolution: '2K',
      aspectRatio: '16:9',
      outputFormat: 'webp',
      costMicros: 600_000,
    });
    await generate({ prompt: 'p', model: 'gpt-image-1', size: '1024x1536' });
    expect(stage.orders[1]?.creations[0]).toMatchObject({ model: 'sandbox-standard', aspectRatio: '2:3' });
    await generate({ prompt: 'p' });
    expect(stage.orders[2]?.creations[0]).toMatchObject({ model: 'sandbox-standard', aspectRatio: '1:1' });
  });

  it('The answer names format and quality of the picture', async () => {
    const { generate } = scene(completing, { setting: { state: { enabledProviders: ['openai'] } } });
    const asked = { ...body, model: 'gpt-image-2', quality: 'low', output_format: 'jpeg' };
    expect((await generate(asked)).body).toMatchObject({ output_format: 'jpeg', quality: 'low' });
  });

  it('Fields that change nothing are named in a header', async () => {
    const answer = await scene().generate({
      ...body,
      quality: 'hd',
      mood: 'vivid',
      moderation: 'low',
      n: null,
    });
    expect(answer.headers['x-darkroom-ignored']).toBe('mood,moderation');
  });

  it('The prompt is in no line of the log', async () => {
    const { generate, stage } = scene(failing('PromptRejected'));
    await generate({ ...body, prompt: 'a secret lake' });
    expect(stage.log.text()).not.toContain('secret');
  });
});

describe('a request that is refused before the charge', () => {
  it.each<[object, string, string]>([
    [{ model: 'sandbox-standard' }, 'prompt', 'err_invalid_request'],
    [{ ...body, prompt: 'x'.repeat(4_001) }, 'prompt', 'err_invalid_request'],
    [{ ...body, size: 'large' }, 'size', 'err_invalid_request'],
    [{ ...body, output_format: 'gif' }, 'output_format', 'unsupported_value'],
    [{ ...body, output_format: 'webp' }, 'output_format', 'unsupported_value'],
    [{ ...body, metadata: { a: 1 } }, 'metadata', 'err_invalid_request'],
    [{ ...body, seed: -1 }, 'seed', 'err_invalid_request'],
    [{ ...body, webhook_url: 'http://10.0.0.1/' }, 'webhook_url', 'err_invalid_request'],
    [{ ...body, image_urls: ['https://a.test/1.png'] }, 'image_urls', 'unsupported_parameter'],
    [{ ...body, max_cost: 0.07, n: 2 }, 'max_cost', 'err_invalid_request'],
    [{ ...body, model: 7 }, 'model', 'err_invalid_request'],
  ])('%j is 400 for its field', async (asked, param, code) => {
    const { generate, stage } = scene();
    expect(await generate(asked)).toMatchObject({
      status: 400,
      headers: { 'x-should-retry': 'false' },
      body: { error: { type: 'invalid_request_error', param, code } },
    });
    expect(stage.orders).toEqual([]);
    // A refused request counts in the rate.
    expect(stage.counted).toBe(1);
  });

  it('max_cost limits the price of all pictures together', async () => {
    expect(await scene().generate({ ...body, max_cost: 0.08, n: 2 })).toMatchObject({ status: 200 });
  });

  it('A webhook whose host leads to a private address is 400', async () => {
    const check = async () => Promise.resolve({ kind: 'refused', why: 'it is private' } as const);
    const { generate, stage } = scene(completing, { setting: { check } });
    expect(await generate({ ...body, webhook_url: 'https://inside.test/' })).toMatchObject({
      status: 400,
      body: { error: { param: 'webhook_url', message: 'webhook_url: it is private' } },
    });
    expect(stage.orders).toEqual([]);
  });

  it('All pictures must have room', async () => {
    const setting = { account: { inFlight: 18 } };
    expect(await scene(completing, { setting }).generate({ ...body, n: 3 })).toMatchObject({
      status: 429,
      headers: { 'retry-after': '5', 'x-should-retry': 'true' },
      body: { error: { code: 'rate_limit_exceeded', details: { limit: 20, current: 18 } } },
    });
    expect(await scene(completing, { setting }).generate({ ...body, n: 2 })).toMatchObject({ status: 200 });
  });

  it('The service must have room for all pictures', async () => {
    const setting = { state: { openCreations: 1_999 } };
    expect(await scene(completing, { setting }).generate({ ...body, n: 2 })).toMatchObject({
      status: 429,
      body: { error: { details: { scope: 'service', current: 1_999 } } },
    });
    expect(await scene(completing, { setting }).generate(body)).toMatchObject({ status: 200 });
  });

  it('The charge decides again, and says what all pictures cost', async () => {
    const setting = { outcome: { kind: 'over_balance', availableMicros: asMicros(1) } } as const;
    expect(await scene(completing, { setting }).generate({ ...body, n: 2 })).toMatchObject({
      status: 402,
      body: { error: { details: { required: 0.08 } } },
    });
  });

  it('A body that is no JSON is 400 without a param', async () => {
    const answer = await scene().send({
      method: 'POST',
      path: '/images/generations',
      headers: { 'Content-Type': 'application/json' },
      body: '{',
    });
    expect(answer).toMatchObject({ status: 400, body: { error: { param: null } } });
  });
});

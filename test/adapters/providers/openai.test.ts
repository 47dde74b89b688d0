import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { checkOpenai } from '../../../adapters/providers/openai-check.ts';
import { openaiSizes } from '../../../adapters/providers/openai-sizes.ts';
import { createOpenai } from '../../../adapters/providers/openai.ts';
import { readImageHeader } from '../../../core/image-bytes.ts';
import { aspectRatios, outputFormats, resolutions } from '../../../core/image-formats.ts';
import type { ProviderAnswer, ProviderCredentials, RenderJob, SourceImage } from '../../../core/provider.ts';
import { startFakeVendor, type FakeVendor, type Received } from '../../fixtures/vendors/fake-vendor.ts';
import { formOf } from '../../fixtures/vendors/openai-form.ts';
import { fakeOpenaiKey, openaiRows, startFakeOpenai } from '../../fixtures/vendors/openai.ts';
import { pictureOf } from '../../fixtures/vendors/pictures.ts';

const never = new AbortController().signal;
const prompt = 'A lighthouse that nobody may read about';

let vendor: FakeVendor;
let forgotten: string[];
beforeAll(async () => void (vendor = await startFakeOpenai()));
afterAll(async () => vendor.stop());
beforeEach(() => void (forgotten = []));

function credentialsOf(key: string | undefined): ProviderCredentials {
  return { read: async () => Promise.resolve(key), forget: (provider) => void forgotten.push(provider) };
}

function sourcesOf(count: number): SourceImage[] {
  const formats = ['png', 'jpeg'] as const;
  return formats.slice(0, count).map((format) => ({ contentType: `image/${format}`, width: 96, height: 64, bytes: pictureOf(format, 96, 64) }));
}

function jobOf(change: Partial<RenderJob> = {}, sources = 0): RenderJob {
  return {
    providerModel: 'gpt-image-2',
    prompt,
    resolution: '1K',
    aspectRatio: '1:1',
    outputFormat: 'png',
    seed: 7,
    sourceCount: sources,
    readSources: async () => Promise.resolve(sourcesOf(sources)),
    ...change,
  };
}

async function submit(job: RenderJob, key: string | undefined = fakeOpenaiKey): Promise<ProviderAnswer> {
  return createOpenai({ credentials: credentialsOf(key), baseUrl: vendor.url }).submit(job, never);
}

function lastReceived(): Received {
  const request = vendor.received.at(-1);
  if (!request) throw new Error('nothing was received');
  return request;
}

describe('what OpenAI answers', () => {
  it.each(openaiRows)('$row: $says', async ({ row, answers, sources = 0 }) => {
    const answer = await submit(jobOf({ prompt: `${prompt} [row:${row}]` }, sources));
    expect(answer.kind === 'refused' ? answer.reason : answer.kind).toBe(answers);
    expect(forgotten).toEqual(answers === 'credentials' ? ['openai'] : []);
  });

  it.each(openaiRows)('$row is told to the operator without prompt, key or the text of the vendor', async ({ row, sources = 0 }) => {
    const answer = await submit(jobOf({ prompt: `${prompt} [row:${row}]` }, sources));
    if (answer.kind === 'refused') expect(answer.detail).toMatch(/^(HTTP \d{3}( [\w.]+)?|[A-Z_]+)$/);
  });

  it.each(outputFormats)('is the picture that was asked for, as %s', async (outputFormat) => {
    const answer = await submit(jobOf({ outputFormat, aspectRatio: '16:9' }));
    const bytes = answer.kind === 'rendered' ? answer.bytes : Buffer.alloc(0);
    expect(readImageHeader(bytes)).toEqual({ contentType: `image/${outputFormat}`, width: 1360, height: 768 });
  });
});

describe('what OpenAI is asked for', () => {
  it('is one picture in the quality of the route, and medium where it names none', async () => {
    await submit(jobOf({ prompt: 'A cat [row:throttled]', quality: 'high', resolution: '2K', aspectRatio: '16:9', outputFormat: 'webp' }));
    const { method, path, headers, json } = lastReceived();
    expect([method, path, headers['authorization'], headers['content-type']]).toEqual(['POST', '/v1/images/generations', `Bearer ${fakeOpenaiKey}`, 'application/json']);
    expect(json).toEqual({ model: 'gpt-image-2', prompt: 'A cat [row:throttled]', n: 1, size: '2736x1536', quality: 'high', output_format: 'webp' });
    await submit(jobOf({ prompt: 'A cat [row:throttled]' }));
    expect(lastReceived().json).toMatchObject({ size: '1024x1024', quality: 'medium', output_format: 'png' });
  });

  it('goes as a form where source images belong to it, each under image[] with the type of its bytes', async () => {
    await submit(jobOf({ quality: 'low', resolution: '4K' }, 2));
    expect(lastReceived().path).toBe('/v1/images/edits');
    const { fields, files } = formOf(lastReceived());
    expect(fields).toEqual({ model: 'gpt-image-2', prompt, n: '1', size: '2880x2880', quality: 'low', output_format: 'png' });
    expect(files).toEqual([
      { field: 'image[]', name: 'image-1.png', type: 'image/png', bytes: pictureOf('png', 96, 64) },
      { field: 'image[]', name: 'image-2.jpeg', type: 'image/jpeg', bytes: pictureOf('jpeg', 96, 64) },
    ]);
  });

  const everySize = resolutions.flatMap((resolution) => aspectRatios.map((aspectRatio) => ({ resolution, aspectRatio })));
  it.each(everySize)('has a size that it takes for $aspectRatio at $resolution', async ({ resolution, aspectRatio }) => {
    // The fake looks at every field before it is "throttled".
    expect(await submit(jobOf({ prompt: 'A cat [row:throttled]', resolution, aspectRatio }))).toMatchObject({ reason: 'unavailable' });
    const [width = 0, height = 1] = openaiSizes[resolution][aspectRatio].split('x').map(Number);
    const [across = 0, down = 1] = aspectRatio.split(':').map(Number);
    expect(Math.abs(width / height / (across / down) - 1)).toBeLessThan(0.02);
  });
});

describe('a call to OpenAI', () => {
  it('is not made without a credential', async () => {
    const before = vendor.received.length;
    const answer = await createOpenai({ credentials: credentialsOf(undefined), baseUrl: vendor.url }).submit(jobOf(), never);
    expect(answer).toEqual({ kind: 'refused', reason: 'credentials', detail: 'no credential' });
    expect([vendor.received.length, forgotten]).toEqual([before, []]);
  });

  it('with a key that OpenAI refuses has the key read anew', async () => {
    expect(await submit(jobOf(), 'sk-wrong')).toEqual({ kind: 'refused', reason: 'credentials', detail: 'HTTP 401 invalid_api_key' });
    expect(forgotten).toEqual(['openai']);
  });

  it('ends when the signal does', async () => {
    const silent = await startFakeVendor(() => ({ status: 'hang' }));
    const submitted = createOpenai({ credentials: credentialsOf(fakeOpenaiKey), baseUrl: silent.url }).submit(jobOf(), AbortSignal.timeout(50));
    await expect(submitted).rejects.toMatchObject({ name: 'TimeoutError' });
    await silent.stop();
  });

  it('that never reached it leaves OpenAI out; nothing was rendered there', async () => {
    const gone = await startFakeVendor(() => ({ status: 'hang' }));
    await gone.stop();
    const answer = await createOpenai({ credentials: credentialsOf(fakeOpenaiKey), baseUrl: gone.url }).submit(jobOf(), never);
    expect(answer).toEqual({ kind: 'refused', reason: 'unavailable', detail: 'ECONNREFUSED' });
  });
});

describe('the fake of OpenAI refuses', () => {
  const good = { model: 'gpt-image-2', prompt: 'A cat', size: '1024x1024' };
  const key = { authorization: `Bearer ${fakeOpenaiKey}` };
  const send = async (path: string, headers: Record<string, string>, body: object | FormData, method = 'POST'): Promise<unknown[]> => {
    const isForm = body instanceof FormData;
    const response = await fetch(`${vendor.url}${path}`, {
      method,
      headers: { ...(!isForm && { 'content-type': 'application/json' }), ...headers },
      ...(method !== 'GET' && { body: isForm ? body : JSON.stringify(body) }),
    });
    const { error } = (await response.json()) as { error?: { code?: string; param?: string } };
    return [response.status, error?.code, error?.param];
  };
  const formWith = (field: string, bytes: Uint8Array, type: string): FormData => {
    const form = new FormData();
    for (const [name, value] of Object.entries(good)) form.append(name, value);
    form.append(field, new Blob([Uint8Array.from(bytes)], { type }), 'a.png');
    return form;
  };

  it.each<[string, string, Record<string, string>, object | FormData, unknown[], string?]>([
    ['a call without a key', '/v1/images/generations', {}, good, [401, null, null]],
    ['another key', '/v1/images/generations', { authorization: 'Bearer other' }, good, [401, 'invalid_api_key', null]],
    ['another path', '/v1/images/variations', key, good, [404, null, null]],
    ['another method', '/v1/images/generations', key, good, [405, 'method_not_supported', null], 'GET'],
    ['another content type', '/v1/images/edits', key, good, [400, 'unsupported_content_type', null]],
    ['an unknown field', '/v1/images/generations', key, { ...good, response_format: 'url' }, [400, 'unknown_parameter', 'response_format']],
    ['a missing prompt', '/v1/images/generations', key, { ...good, prompt: '' }, [400, 'missing_required_parameter', 'prompt']],
    ['a prompt that is too long', '/v1/images/generations', key, { ...good, prompt: 'x'.repeat(32_001) }, [400, 'string_above_max_length', 'prompt']],
    ['an edge that is no multiple of 16', '/v1/images/generations', key, { ...good, size: '1000x1000' }, [400, 'invalid_value', 'size']],
    ['an edge above 3840', '/v1/images/generations', key, { ...good, size: '4096x2048' }, [400, 'invalid_value', 'size']],
    ['a ratio above 3', '/v1/images/generations', key, { ...good, size: '3072x512' }, [400, 'invalid_value', 'size']],
    ['too few pixels', '/v1/images/generations', key, { ...good, size: '512x512' }, [400, 'invalid_value', 'size']],
    ['a quality it does not have', '/v1/images/generations', key, { ...good, quality: 'hd' }, [400, 'invalid_value', 'quality']],
    ['another model', '/v1/images/generations', key, { ...good, model: 'dall-e-3' }, [400, 'invalid_value', 'model']],
    ['a form without an image', '/v1/images/edits', key, formWith('mask[]', pictureOf('png', 8, 8), 'image/png'), [400, 'unknown_parameter', 'mask[]']],
    ['an image of another type than it says', '/v1/images/edits', key, formWith('image[]', pictureOf('png', 8, 8), 'image/jpeg'), [400, 'invalid_image_file', 'image']],
  ])('%s', async (_, path, headers, body, expected, method) => {
    expect(await send(path, headers, body, method)).toEqual(expected);
  });
});

describe('the free check of a key', () => {
  const check = async (key: string | undefined, baseUrl = vendor.url): Promise<unknown> => checkOpenai({ credentials: credentialsOf(key), baseUrl }, never);

  it('lists the models', async () => {
    expect(await check(fakeOpenaiKey)).toEqual({ verdict: 'accepted', detail: 'HTTP 200' });
    expect([lastReceived().method, lastReceived().path]).toEqual(['GET', '/v1/models']);
    expect(await check('sk-wrong')).toEqual({ verdict: 'refused', detail: 'HTTP 401' });
    expect(await check(undefined)).toEqual({ verdict: 'unchecked', detail: 'no credential' });
  });

  it.each([
    [403, { verdict: 'unchecked', detail: 'HTTP 403: the key may not list models' }],
    [500, { verdict: 'unreachable', detail: 'HTTP 500' }],
  ])('that is answered with %i', async (status, expected) => {
    const other = await startFakeVendor(() => ({ status, body: {} }));
    expect(await check(fakeOpenaiKey, other.url)).toEqual(expected);
    await other.stop();
    expect(await check(fakeOpenaiKey, other.url)).toEqual({ verdict: 'unreachable', detail: 'ECONNREFUSED' });
  });
});

import { describe, expect, it } from 'vitest';
import * as client from '../../client/src/index.ts';
import { type CreationResult } from '../../client/src/types/generated.ts';
import { DarkroomError, UnexpectedAnswer } from '../../client/src/errors.ts';
import { json, refusal, stub, thrownBy } from './stub.ts';

async function errorOf(answer: Response): Promise<unknown> {
  const { darkroom } = stub([answer], { maxRetries: 0 });
  return thrownBy(darkroom.balance.get());
}

const details = { reason: 'because', more: [1] };

/** The class of each code of the API, by its status. */
const codes: readonly (readonly [number, string, new (...args: never[]) => Error])[] = [
  [400, 'ERR_INVALID_REQUEST', client.InvalidRequest],
  [400, 'ERR_CONTENT_POLICY', client.InvalidRequest],
  [401, 'ERR_API_KEY_INVALID', client.AuthenticationFailed],
  [402, 'ERR_INSUFFICIENT_BALANCE', client.InsufficientBalance],
  [403, 'ERR_ACCOUNT_DISABLED', client.AccessDenied],
  [403, 'ERR_API_SUSPENDED', client.AccessDenied],
  [404, 'ERR_MODEL_NOT_FOUND', client.NotFound],
  [404, 'ERR_NOT_FOUND', client.NotFound],
  [429, 'ERR_RATE_LIMIT', client.RateLimited],
  [429, 'ERR_QUOTA_EXCEEDED', client.RateLimited],
  [500, 'ERR_INTERNAL', client.InternalError],
  [502, 'ERR_INPUT_FETCH_FAILED', client.InputFetchFailed],
  [502, 'ERR_GENERATION_FAILED', client.ApiError],
  [503, 'ERR_PROVIDER_UNAVAILABLE', client.ServiceUnavailable],
  [418, 'ERR_OF_A_LATER_RELEASE', client.ApiError],
];

describe('errors of the API', () => {
  for (const [status, code, errorClass] of codes) {
    it(`${status} ${code} is thrown as ${errorClass.name}`, async () => {
      const error = await errorOf(
        refusal(status, code, details, { 'x-request-id': 'r1', 'retry-after': '3' }),
      );
      expect(error).toBeInstanceOf(client.DarkroomError);
      expect((error as Error).constructor).toBe(errorClass);
      expect(error).toMatchObject({
        name: errorClass.name,
        message: `The message of ${code}.`,
        status,
        code,
        reason: 'because',
        details,
        requestId: 'r1',
        retryAfter: 3,
      });
    });
  }

  it('InvalidRequest names each wrong field', async () => {
    const errors = [{ field: 'promt', code: 'unknown_field', message: 'not a field' }];
    expect(await errorOf(refusal(400, 'ERR_INVALID_REQUEST', { errors }))).toMatchObject({ errors });
    expect(await errorOf(refusal(400, 'ERR_INVALID_REQUEST'))).toMatchObject({
      errors: [],
      reason: undefined,
    });
  });

  it('InsufficientBalance says what is missing, or when the budget begins anew', async () => {
    expect(
      await errorOf(
        refusal(402, 'ERR_INSUFFICIENT_BALANCE', {
          required: 0.04,
          available: 0,
          top_up_url: 'https://top.up',
        }),
      ),
    ).toMatchObject({ required: 0.04, available: 0, topUpUrl: 'https://top.up', resetsAt: undefined });
    expect(
      await errorOf(
        refusal(402, 'ERR_INSUFFICIENT_BALANCE', { reason: 'monthly_budget_exceeded', resets_at: 'soon' }),
      ),
    ).toMatchObject({ required: undefined, available: undefined, resetsAt: 'soon' });
  });

  it('InputFetchFailed names the image, and whether a repetition makes sense', async () => {
    expect(
      await errorOf(refusal(502, 'ERR_INPUT_FETCH_FAILED', { retryable: true, input_index: 0 })),
    ).toMatchObject({ retryable: true, inputIndex: 0 });
    expect(await errorOf(refusal(502, 'ERR_INPUT_FETCH_FAILED'))).toMatchObject({
      retryable: false,
      inputIndex: undefined,
    });
  });

  it('The plain form of a failed authentication is the same error', async () => {
    const invalid = await errorOf(json({ detail: 'api_key_invalid' }, 401));
    expect(invalid).toBeInstanceOf(client.AuthenticationFailed);
    expect(invalid).toMatchObject({ code: 'ERR_API_KEY_INVALID', reason: 'api_key_invalid' });
    expect(await errorOf(json({ detail: 'api_suspended' }, 403))).toBeInstanceOf(client.AccessDenied);
    expect(await errorOf(json({ detail: 'api_suspended' }, 500))).toBeInstanceOf(client.UnexpectedAnswer);
    expect(await errorOf(json({ detail: 'constructor' }, 403))).toBeInstanceOf(client.UnexpectedAnswer);
  });
});

describe('answers that are not of the API', () => {
  const html = (status: number): Response =>
    new Response(`<html>${'x'.repeat(600)}`, { status, headers: { 'content-type': 'text/html' } });

  for (const status of [200, 404, 502]) {
    it(`A page with status ${status} is an UnexpectedAnswer with the begin of the page`, async () => {
      const error = await errorOf(html(status));
      expect(error).toBeInstanceOf(client.UnexpectedAnswer);
      expect(error).toMatchObject({
        status,
        code: 'UNEXPECTED_ANSWER',
        message: `The answer is not one of the API (status ${status}, text/html). Check the base URL, or try again later.`,
      });
      expect((error as client.UnexpectedAnswer).excerpt).toBe(`<html>${'x'.repeat(494)}`);
    });
  }

  it('A redirect is not followed, so that no other server gets the key', async () => {
    const { darkroom, sent } = stub([
      new Response(null, { status: 301, headers: { location: 'https://elsewhere.test/' } }),
    ]);
    expect(await thrownBy(darkroom.balance.get())).toMatchObject({
      name: 'UnexpectedAnswer',
      message:
        'The base URL answered with a redirect to https://elsewhere.test/. The client follows none: correct the base URL.',
    });
    expect(sent[0]?.redirect).toBe('manual');
  });

  it('JSON without the envelope is no answer of the API', async () => {
    expect(await errorOf(json({ message: 'Service Unavailable' }, 503))).toBeInstanceOf(
      client.UnexpectedAnswer,
    );
    expect(await errorOf(json('a text', 200))).toBeInstanceOf(client.UnexpectedAnswer);
    expect(await errorOf(json({ error: 'a text' }, 500))).toBeInstanceOf(client.UnexpectedAnswer);
  });
});

describe('asResponse', () => {
  it('The answer has its headers and its whole body', async () => {
    const { darkroom } = stub([json({ id: 'one' }, 202, { 'x-darkroom-cost': '0.01' })]);
    const answer = await darkroom.images.generate({ model: 'm', prompt: 'p' }).asResponse();
    expect([answer.status, answer.headers.get('x-darkroom-cost'), await answer.json()]).toEqual([
      202,
      '0.01',
      { id: 'one' },
    ]);
  });

  it('An error is thrown once, by asResponse() too', async () => {
    const { darkroom } = stub([refusal(404, 'ERR_NOT_FOUND')]);
    expect(await thrownBy(darkroom.creations.get('x').asResponse())).toBeInstanceOf(client.NotFound);
  });
});

const bytesOf = (text: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(text, (letter) => letter.charCodeAt(0));

const png = bytesOf('\x89PNG\r\n\x1a\nrest');

const announced = (): Response =>
  json(
    {
      id: 'u1',
      image_url: 'upload:u1',
      upload_url: 'https://storage.test/u1?signature=s',
      upload_headers: { 'content-type': 'image/png', 'content-length': '12' },
    },
    201,
  );

const stored = (): Response => new Response(null, { status: 200 });

describe('uploads.create', () => {
  for (const [type, text] of [
    ['image/png', '\x89PNG\r\n\x1a\nrest'],
    ['image/jpeg', '\xff\xd8\xff\xe0rest'],
    ['image/webp', 'RIFF\x01\x02\x03\x04WEBPrest'],
  ] as const) {
    it(`${type} is recognised by its first bytes`, async () => {
      const { darkroom, sent } = stub([announced(), stored()]);
      await darkroom.uploads.create(bytesOf(text));
      expect(sent[0]?.body).toEqual({ content_type: type, bytes: text.length });
    });
  }

  it('The bytes go to the storage, with the type and without key and length', async () => {
    const { darkroom, sent } = stub([announced(), stored()]);
    expect(await darkroom.uploads.create(png.buffer)).toBe('upload:u1');
    const [, put] = sent;
    expect([put?.method, put?.url]).toEqual(['PUT', 'https://storage.test/u1?signature=s']);
    expect(Object.fromEntries(put?.headers ?? [])).toEqual({ 'content-type': 'image/png' });
    expect(await (put?.body as Blob | undefined)?.bytes()).toEqual(png);
  });

  it('A part of a buffer and a Blob of another type are taken as they are', async () => {
    const { darkroom, sent } = stub([announced(), stored(), announced(), stored()]);
    await darkroom.uploads.create(png.subarray(0, 10));
    await darkroom.uploads.create(new Blob([png], { type: 'text/plain' }));
    expect([sent[0]?.body, sent[2]?.body]).toEqual([
      { content_type: 'image/png', bytes: 10 },
      { content_type: 'image/png', bytes: 12 },
    ]);
  });

  it('A file of another kind is refused before anything is sent, unless the caller names its type', async () => {
    const { darkroom, sent } = stub([announced(), stored()]);
    const unknown = await thrownBy(darkroom.uploads.create(bytesOf('RIFF1234WAVE')));
    expect(unknown).toBeInstanceOf(DarkroomError);
    expect(sent).toEqual([]);
    await darkroom.uploads.create(bytesOf('x'), { contentType: 'image/webp' });
    expect(sent[0]?.body).toEqual({ content_type: 'image/webp', bytes: 1 });
  });

  it('A storage that is busy gets the bytes again, and a refusal names no signed address', async () => {
    const { darkroom, sent } = stub([
      announced(),
      new Response('<Error>SlowDown</Error>', { status: 503 }),
      new Response('<Error>AccessDenied</Error>', { status: 403 }),
    ]);
    const error = await thrownBy(darkroom.uploads.create(png));
    expect(sent.map(({ method }) => method)).toEqual(['POST', 'PUT', 'PUT']);
    expect(error).toMatchObject({
      name: 'UnexpectedAnswer',
      status: 403,
      excerpt: '<Error>AccessDenied</Error>',
    });
    expect(String(error)).not.toContain('signature');
  });

  it('A refusal of the announcement is an error of the API', async () => {
    const { darkroom } = stub([
      refusal(429, 'ERR_QUOTA_EXCEEDED', { reason: 'unused_uploads' }, { 'retry-after': '99' }),
    ]);
    expect(await thrownBy(darkroom.uploads.create(png))).toMatchObject({ reason: 'unused_uploads' });
  });
});

describe('results.download', () => {
  const result: CreationResult = {
    url: 'https://results.test/secret.png',
    width: 1,
    height: 1,
    content_type: 'image/png',
    bytes: 12,
  };
  const image = (body: string | Uint8Array<ArrayBuffer>, type = 'image/png'): Response =>
    new Response(body, { headers: { 'content-type': type } });

  it('The image is a Blob, and its server does not get the key', async () => {
    const { darkroom, sent } = stub([image(png, 'image/PNG; x=y')]);
    const blob = await darkroom.results.download(result);
    expect([blob.type, await blob.bytes()]).toEqual(['image/png', png]);
    expect([sent[0]?.url, [...(sent[0]?.headers.keys() ?? [])]]).toEqual([result.url, []]);
  });

  for (const [name, body, type] of [
    ['a page instead of the image', png, 'text/html'],
    ['half of the image', png.subarray(0, 6), 'image/png'],
  ] as const) {
    it(`The answer is refused when it is ${name}`, async () => {
      const { darkroom } = stub([image(body, type)]);
      expect(await thrownBy(darkroom.results.download(result))).toBeInstanceOf(UnexpectedAnswer);
    });
  }

  it('An image that is gone is an error with the status', async () => {
    const { darkroom } = stub([new Response('<Error/>', { status: 403 })]);
    expect(await thrownBy(darkroom.results.download(result))).toMatchObject({ status: 403 });
  });

  it('Without a result nothing is sent', async () => {
    const { darkroom, sent } = stub([]);
    expect(await thrownBy(darkroom.results.download(undefined))).toBeInstanceOf(DarkroomError);
    expect(sent).toEqual([]);
  });
});

import { describe, expect, it } from 'vitest';
import { DarkroomError, UnexpectedAnswer, type CreationResult } from '../../client/src/index.ts';
import { json, refusal, stub, thrownBy } from './stub.ts';

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

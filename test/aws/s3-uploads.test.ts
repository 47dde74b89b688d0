/** What is signed for an upload, and what a read of an upload's bytes makes of the bucket's answers. */
import { createHash, createHmac } from 'node:crypto';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createImageStore } from '../../service/creations/image-store.ts';
import { createUploadTargets } from '../../service/uploads/upload-targets.ts';
import type { Upload } from '../../service/uploads/upload.ts';
import { Overloaded } from '../../service/values/errors.ts';
import type { AccountId, UploadId } from '../../service/values/ids.ts';
import { fakeClock } from '../api/fakes.ts';
import { now } from '../fixtures/records.ts';

const upload: Upload = {
  id: '019aa8f0-0000-7000-8000-00000000000a' as UploadId,
  accountId: 'Acc0unt001' as AccountId,
  contentType: 'image/jpeg',
  bytes: 4_711,
  key: 'uploads/a_b-C.jpg',
  expiresAt: now + 86_400_000,
};
const access = {
  bucket: 'images',
  region: 'eu-west-1',
  urlSuffix: 'amazonaws.com',
  accessKeyId: 'AKID',
  secretAccessKey: 'secret',
};

const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();

/** The signature by the text of the guide of Signature Version 4, for the headers host, length and type. */
function signatureOf(url: URL, type: string, length: number): string {
  const query = [...url.searchParams]
    .filter(([name]) => name !== 'X-Amz-Signature')
    .map((pair) => pair.map(encodeURIComponent).join('='))
    .sort()
    .join('&');
  const canonical = `PUT\n${url.pathname}\n${query}\ncontent-length:${length}\ncontent-type:${type}\nhost:${url.host}\n\ncontent-length;content-type;host\nUNSIGNED-PAYLOAD`;
  const scope = '20261121/eu-west-1/s3/aws4_request';
  const hash = createHash('sha256').update(canonical).digest('hex');
  const key = ['20261121', 'eu-west-1', 's3', 'aws4_request'].reduce<string | Buffer>(hmac, 'AWS4secret');
  return hmac(key, `AWS4-HMAC-SHA256\n20261121T120030Z\n${scope}\n${hash}`).toString('hex');
}

describe('The signed address of an upload', () => {
  it('The signature covers host, length and type, and holds for 15 minutes from the given time', async () => {
    const { url, headers } = await createUploadTargets(access).sign(upload, now);
    const signed = new URL(url);
    expect(`${signed.origin}${signed.pathname}`).toBe(
      'https://images.s3.eu-west-1.amazonaws.com/uploads/a_b-C.jpg',
    );
    expect(Object.fromEntries(signed.searchParams)).toEqual({
      'X-Amz-Algorithm': 'AWS4-HMAC-SHA256',
      'X-Amz-Credential': 'AKID/20261121/eu-west-1/s3/aws4_request',
      'X-Amz-Date': '20261121T120030Z',
      'X-Amz-Expires': '900',
      'X-Amz-SignedHeaders': 'content-length;content-type;host',
      'X-Amz-Signature': signatureOf(signed, 'image/jpeg', 4_711),
    });
    expect(headers).toEqual({ 'content-type': 'image/jpeg', 'content-length': '4711' });
  });

  it.each([
    ['length', { ...upload, bytes: 4_712 }],
    ['type', { ...upload, contentType: 'image/png' as const }],
    ['key', { ...upload, key: 'uploads/other.jpg' }],
  ])('Another %s has another signature', async (_what, other) => {
    const sign = async (one: Upload): Promise<string | null> =>
      new URL((await createUploadTargets(access).sign(one, now)).url).searchParams.get('X-Amz-Signature');
    expect(await sign(other)).not.toBe(await sign(upload));
  });

  it('The session of the role is a part of what is signed', async () => {
    const { url } = await createUploadTargets({ ...access, sessionToken: 'the session' }).sign(upload, now);
    const { searchParams } = new URL(url);
    expect(searchParams.get('X-Amz-Security-Token')).toBe('the session');
    expect(searchParams.get('X-Amz-Signature')).toBe(signatureOf(new URL(url), 'image/jpeg', 4_711));
  });
});

describe('The bytes of an upload', () => {
  afterEach(() => vi.unstubAllGlobals());
  const read = async (status: number, body: string): Promise<unknown> => {
    vi.stubGlobal('fetch', () => Promise.resolve(new Response(body, { status })));
    const store = createImageStore({ ...access, clock: fakeClock() });
    return store.upload('uploads/a', new AbortController().signal).catch((error: unknown) => error);
  };

  it('The bytes are read as they are', async () => {
    expect(await read(200, 'bytes')).toEqual(Uint8Array.from(Buffer.from('bytes')));
    expect(await read(200, '')).toEqual(new Uint8Array());
  });

  it('A read may take 5 s, and ends with the signal of the request; then the service is overloaded', async () => {
    const limits: number[] = [];
    const clock = fakeClock();
    const stop = new AbortController();
    vi.stubGlobal('fetch', () => {
      stop.abort();
      return Promise.reject(new Error('aborted'));
    });
    const timeout: typeof clock.timeout = (millis) => {
      limits.push(millis);
      return clock.timeout(millis);
    };
    const store = createImageStore({ ...access, clock: { ...fakeClock(), timeout } });
    await expect(store.upload('uploads/a', stop.signal)).rejects.toBeInstanceOf(Overloaded);
    expect([limits, clock.held]).toEqual([[5_000], 0]);
  });

  it.each([
    [404, '<Error><Code>NoSuchKey</Code></Error>'],
    [403, '<Error><Code>AccessDenied</Code></Error>'],
  ])('An answer of %i %s says that nobody has put them', async (status, body) => {
    expect(await read(status, body)).toBeUndefined();
  });

  it.each([
    [403, '<Error><Code>ExpiredToken</Code></Error>'],
    [403, ''],
    [400, '<Error><Code>AccessDenied</Code></Error>'],
  ])('An answer of %i %s is an error of ours', async (status, body) => {
    expect(await read(status, body)).toEqual(new Error(`the bucket answered ${status} to a upload`));
  });
});

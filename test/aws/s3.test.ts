/** The bucket over a socket: what is sent, what is sent again, and what is thrown. */
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../service/aws/clock.ts';
import { createImageStore } from '../../service/creations/image-store.ts';

interface Asked {
  readonly line: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

let server: Server;
const asked: Asked[] = [];
/** The statuses of the answers in turn. The last one holds for all further answers. */
let statuses: number[] = [200];
let held: Record<string, string> = {};
const heldByDefault = {
  'content-type': 'image/webp',
  'x-amz-meta-width': '1537',
  'x-amz-meta-height': '1025',
};

beforeAll(async () => {
  server = createServer((incoming, outgoing) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      asked.push({
        line: `${incoming.method ?? ''} ${incoming.url ?? ''}`,
        headers: incoming.headers,
        body: Buffer.concat(chunks),
      });
      outgoing.writeHead((statuses.length > 1 ? statuses.shift() : statuses[0]) ?? 200, {
        ...held,
        'content-length': 5,
      });
      outgoing.end(incoming.method === 'HEAD' ? undefined : 'bytes');
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
});
beforeEach(() => {
  asked.length = 0;
  statuses = [200];
  held = heldByDefault;
});
afterAll(() => {
  server.close();
});

const store = () =>
  createImageStore({
    bucket: 'images',
    region: 'us-east-1',
    urlSuffix: 'amazonaws.com',
    accessKeyId: 'id',
    secretAccessKey: 'secret',
    clock: systemClock,
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
  });
const image = { key: 'results/one.webp', contentType: 'image/webp', width: 1537, height: 1025, bytes: 3 };

describe('An image in the bucket', () => {
  it('An image is stored with its type, its size, its checksum, and the end until which caches may keep it', async () => {
    const bytes = Uint8Array.from([1, 2, 3]);
    await store().put(image, bytes, Date.UTC(2026, 11, 25, 18));
    expect(asked[0]).toMatchObject({
      line: 'PUT /images/results/one.webp',
      headers: {
        'content-type': 'image/webp',
        'cache-control': 'public, immutable',
        expires: 'Fri, 25 Dec 2026 18:00:00 GMT',
        'x-amz-meta-width': '1537',
        'x-amz-meta-height': '1025',
        'x-amz-checksum-sha256': createHash('sha256').update(bytes).digest('base64'),
      },
    });
    expect([...(asked[0]?.body ?? [])]).toEqual([1, 2, 3]);
    expect(asked[0]?.headers['authorization']).toMatch(
      /^AWS4-HMAC-SHA256 Credential=id\/\d{8}\/us-east-1\/s3\/aws4_request/,
    );
  });

  it('A copy of a source image, which is given to nobody, has no rule for caches', async () => {
    await store().put(image, Uint8Array.from([1, 2, 3]));
    expect(asked[0]?.headers).not.toHaveProperty('cache-control');
    expect(asked[0]?.headers).not.toHaveProperty('expires');
  });

  it('An image is read as its bytes', async () => {
    expect(Buffer.from(await store().get('sources/one')).toString()).toBe('bytes');
    expect(asked[0]?.line).toBe('GET /images/sources/one');
  });

  it('An image that exists is found with type, size and length; any other image is undefined', async () => {
    statuses = [200, 404];
    expect(await store().find('results/one.webp')).toEqual({
      key: 'results/one.webp',
      contentType: 'image/webp',
      width: 1537,
      height: 1025,
      bytes: 5,
    });
    expect(await store().find('results/two.webp')).toBeUndefined();
    expect(asked.map(({ line }) => line)).toEqual([
      'HEAD /images/results/one.webp',
      'HEAD /images/results/two.webp',
    ]);
  });
});

describe('The content credentials of an image', () => {
  it.each(['present', 'absent'] as const)(
    'An image whose credentials are %s is found as such',
    async (found) => {
      await store().put({ ...image, contentCredentials: found }, new Uint8Array(3));
      expect(asked[0]?.headers['x-amz-meta-content-credentials']).toBe(found);
      held = { ...heldByDefault, 'x-amz-meta-content-credentials': found };
      expect(await store().find('results/one.webp')).toMatchObject({ contentCredentials: found });
    },
  );

  it.each([undefined, 'forged'])(
    'An image whose header is %s is found without a word about them',
    async (other) => {
      await store().put(image, new Uint8Array(3));
      expect(asked[0]?.headers).not.toHaveProperty('x-amz-meta-content-credentials');
      held = { ...heldByDefault, ...(other !== undefined && { 'x-amz-meta-content-credentials': other }) };
      expect(await store().find('results/one.webp')).not.toHaveProperty('contentCredentials');
    },
  );
});

describe('A bucket that fails', () => {
  const calls = {
    put: async () => store().put(image, new Uint8Array(3)),
    get: async () => store().get('k'),
    find: async () => store().find('k'),
  };

  it.each(Object.entries(calls))(
    'A %s is tried five times, and then its status is thrown',
    async (_name, call) => {
      statuses = [503];
      await expect(call()).rejects.toThrow('the bucket answered 503');
      expect(asked).toHaveLength(5);
    },
  );

  it.each(Object.entries(calls))('A %s that succeeds at the fifth try is no error', async (_name, call) => {
    statuses = [500, 503, 429, 502, 200];
    await call();
    expect(asked).toHaveLength(5);
  });

  it.each(Object.entries(calls))('A %s that is forbidden is thrown at once', async (_name, call) => {
    statuses = [403];
    await expect(call()).rejects.toThrow('the bucket answered 403');
    expect(asked).toHaveLength(1);
  });
});

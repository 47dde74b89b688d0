/** The bucket over a socket: what is sent, what is sent again, and what is thrown. */
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it, afterEach, vi } from 'vitest';
import { systemClock } from '../../service/aws/clock.ts';
import { createImageStore, type ImageStore } from '../../service/creations/image-store.ts';
import type { BucketAccess } from '../../service/aws/aws-place.ts';
import { Overloaded } from '../../service/values/errors.ts';
import type { TimeLimit } from '../../service/values/runtime.ts';

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
let hasLength = true;
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
        ...(hasLength && { 'content-length': 5 }),
      });
      if (incoming.method === 'HEAD') outgoing.end();
      else {
        outgoing.write('by');
        setImmediate(() => outgoing.end('tes'));
      }
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
  hasLength = true;
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
        'cache-control': 'public, immutable, s-maxage=30',
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

  it.each([true, false])(
    'An image is read whole, with a Content-Length in the answer or without: %j',
    async (isKnown) => {
      hasLength = isKnown;
      expect(Buffer.from(await store().get('sources/one')).toString()).toBe('bytes');
      expect(asked[0]?.line).toBe('GET /images/sources/one');
    },
  );

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

const sent: Request[] = [];
const limits: number[] = [];
let released = 0;
let limit = new AbortController();

beforeEach(() => {
  // The pauses between the tries of a call are a random part of some milliseconds.
  vi.spyOn(Math, 'random').mockReturnValue(0);
  [sent.length, limits.length, released, limit] = [0, 0, 0, new AbortController()];
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

function answering(end: (request: Request) => Response | Error): void {
  vi.stubGlobal('fetch', (request: Request) => {
    sent.push(request);
    const ended = end(request);
    return ended instanceof Error ? Promise.reject(ended) : Promise.resolve(ended);
  });
}

const access: BucketAccess = {
  bucket: 'images',
  region: 'eu-west-1',
  urlSuffix: 'amazonaws.com',
  accessKeyId: 'id',
  secretAccessKey: 'secret',
  clock: {
    ...systemClock,
    timeout: (millis): TimeLimit => {
      limits.push(millis);
      return { signal: limit.signal, release: () => (released += 1) };
    },
  },
};
const webp = { key: 'results/a.png', contentType: 'image/png', width: 2, height: 3, bytes: 4 };
const calls = {
  put: (store: ImageStore) => store.put(webp, new Uint8Array(3)),
  get: (store: ImageStore) => store.get('results/a.png'),
  find: (store: ImageStore) => store.find('results/a.png'),
} as const;
const ended = async (kind: keyof typeof calls, change: Partial<BucketAccess> = {}): Promise<unknown> =>
  Promise.resolve(calls[kind](createImageStore({ ...access, ...change }))).catch((error: unknown) => error);

describe('The address of an image', () => {
  it.each([
    [undefined, 'https://images.s3.eu-west-1.amazonaws.com/results/a.png'],
    ['http://127.0.0.1:9000', 'http://127.0.0.1:9000/images/results/a.png'],
  ])('With the endpoint %s the address of an image is %s', async (endpoint, url) => {
    answering(() => new Response());
    await ended('get', { ...(endpoint !== undefined && { endpoint }) });
    expect(sent.map((request) => request.url)).toEqual([url]);
  });

  it('A request carries the session of the role, if there is one', async () => {
    answering(() => new Response());
    await ended('get');
    await ended('get', { sessionToken: 'session' });
    expect(sent.map(({ headers }) => headers.get('x-amz-security-token'))).toEqual([null, 'session']);
  });
});

describe('A call of the bucket', () => {
  it.each([
    ['put', 'PUT', 40_000],
    ['get', 'GET', 40_000],
    ['find', 'HEAD', 10_000],
  ] as const)(
    'A %s is a %s of at most %i ms, and its time limit is released',
    async (kind, method, millis) => {
      answering(() => new Response());
      await ended(kind);
      expect([sent.map((request) => request.method), limits, released]).toEqual([[method], [millis], 1]);
    },
  );

  it.each([
    ['put', 403],
    ['put', 404],
    ...[300, 403, 404, 428, 430, 499].map((status) => ['get', status] as const),
    ['find', 403],
  ] as const)('A %s that is answered with %i is an error after one try', async (kind, status) => {
    answering(() => new Response(null, { status }));
    const error = await ended(kind);
    expect(error).toEqual(new Error(`the bucket answered ${status} to a ${kind}`));
    expect(error).not.toBeInstanceOf(Overloaded);
    expect([sent.length, released]).toEqual([1, 1]);
  });

  it.each([
    ['put', 500],
    ['get', 503],
    ['find', 429],
  ] as const)('A %s that is answered with %i five times is overloaded', async (kind, status) => {
    answering(() => new Response(null, { status }));
    const error = await ended(kind);
    expect(error).toBeInstanceOf(Overloaded);
    expect(error).toMatchObject({ message: `the bucket answered ${status} to a ${kind}` });
    expect(sent).toHaveLength(5);
  });

  it.each(['put', 'get', 'find'] as const)(
    'A %s that succeeds at the fifth try is no error',
    async (kind) => {
      const statuses = [500, 503, 429, 502, 200];
      answering(() => new Response(null, { status: statuses.shift() ?? 500 }));
      expect(await ended(kind)).not.toBeInstanceOf(Error);
      expect(sent).toHaveLength(5);
    },
  );

  it.each(['its own time', 'the time of the request'])(
    'A call is overloaded when %s is used up',
    async (which) => {
      const outer = new AbortController();
      const cause = new Error('aborted');
      answering(() => {
        (which === 'its own time' ? limit : outer).abort();
        return cause;
      });
      const error = await ended('get', { signal: outer.signal });
      expect(error).toBeInstanceOf(Overloaded);
      expect(error).toMatchObject({ message: 'the bucket gave no answer to a get in time', cause });
      expect(released).toBe(1);
    },
  );

  it('A call that breaks within its time throws its own error', async () => {
    const cause = new TypeError('fetch failed');
    answering(() => cause);
    expect(await ended('get', { signal: new AbortController().signal })).toBe(cause);
  });
});

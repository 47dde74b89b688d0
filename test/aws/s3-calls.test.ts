/**
 * The bucket, asked over a fetch of the test: its address, its time limits, and what each end of a call
 * means.
 */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { BucketAccess } from '../../service/aws/aws-place.ts';
import { createImageStore, type ImageStore } from '../../service/creations/image-store.ts';
import { Overloaded } from '../../service/values/errors.ts';
import type { TimeLimit } from '../../service/values/runtime.ts';

const asked: Request[] = [];
const limits: number[] = [];
let released = 0;
let limit = new AbortController();

beforeEach(() => {
  // The pauses between the tries of a call are a random part of some milliseconds.
  vi.spyOn(Math, 'random').mockReturnValue(0);
  [asked.length, limits.length, released, limit] = [0, 0, 0, new AbortController()];
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

function answering(end: (request: Request) => Response | Error): void {
  vi.stubGlobal('fetch', (request: Request) => {
    asked.push(request);
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
    timeout: (millis): TimeLimit => {
      limits.push(millis);
      return { signal: limit.signal, release: () => (released += 1) };
    },
  },
};
const image = { key: 'results/a.png', contentType: 'image/png', width: 2, height: 3, bytes: 4 };
const calls = {
  put: (store: ImageStore) => store.put(image, new Uint8Array(3)),
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
    expect(asked.map((request) => request.url)).toEqual([url]);
  });

  it('A request carries the session of the role, if there is one', async () => {
    answering(() => new Response());
    await ended('get');
    await ended('get', { sessionToken: 'session' });
    expect(asked.map(({ headers }) => headers.get('x-amz-security-token'))).toEqual([null, 'session']);
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
      expect([asked.map((request) => request.method), limits, released]).toEqual([[method], [millis], 1]);
    },
  );

  it.each([
    ['put', 404, 1],
    ['get', 404, 1],
    ['get', 300, 1],
    ['get', 403, 1],
    ['get', 428, 1],
    ['get', 430, 1],
    ['get', 499, 1],
    ['find', 403, 1],
  ] as const)('A %s that is answered with %i is an error after %i try', async (kind, status, tries) => {
    answering(() => new Response(null, { status }));
    const error = await ended(kind);
    expect(error).toEqual(new Error(`the bucket answered ${status} to a ${kind}`));
    expect(error).not.toBeInstanceOf(Overloaded);
    expect([asked.length, released]).toEqual([tries, 1]);
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
    expect(asked).toHaveLength(5);
  });

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

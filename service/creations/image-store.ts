/** The service's own bucket, with results and copies of source images. */
import { createHash } from 'node:crypto';
import { addressOf, type BucketAccess } from '../aws/aws-place.ts';
import { createSignedFetch, type SignedInit } from '../aws/signed-fetch.ts';
import { sharedCacheSeconds, signedPrefix, sourceTimeoutMillis } from '../contract/limits.ts';
import { Overloaded } from '../values/errors.ts';
import type { StoredImage } from './creation.ts';

export type ImageStore = ReturnType<typeof createImageStore>;

/** How often a call is retried after a 5xx or a throttle. The pauses grow. */
const retries = 4;
/** The time of one call with all its tries. A 4K picture has about 30 MB. */
const callMillis = {
  put: 40_000,
  get: 40_000,
  find: 10_000,
  remove: 10_000,
  upload: sourceTimeoutMillis,
} as const;

/** Stores results and source images under secret keys, unchanged. Busy calls throw Overloaded. */
export function createImageStore(access: BucketAccess) {
  const { clock, signal: outer } = access;
  const send = createSignedFetch({ ...access, service: 's3', retries });
  const base = addressOf(access);

  async function call<Answer>(
    kind: keyof typeof callMillis,
    key: string,
    init: SignedInit,
    read: (response: Response) => Promise<Answer>,
    own?: AbortSignal,
  ): Promise<Answer> {
    const limit = clock.timeout(callMillis[kind]);
    const signal = AbortSignal.any([limit.signal, ...(outer ? [outer] : []), ...(own ? [own] : [])]);
    try {
      const response = await send(`${base}/${key}`, { ...init, signal });
      const answer = await read(response);
      if (response.ok || (kind === 'find' && response.status === 404) || answer === nothing) return answer;
      const refusal = `the bucket answered ${response.status} to a ${kind}`;
      throw response.status >= 500 || response.status === 429 ? new Overloaded(refusal) : new Error(refusal);
    } catch (error) {
      throw signal.aborted
        ? new Overloaded(`the bucket gave no answer to a ${kind} in time`, { cause: error })
        : error;
    } finally {
      limit.release();
    }
  }

  return {
    /** @param expiresAtMillis until when a cache may keep a result. Absent: the image is not delivered. */
    put: async (image: StoredImage, bytes: Uint8Array, expiresAtMillis?: number) => {
      const headers = {
        'content-type': image.contentType,
        ...(expiresAtMillis !== undefined && cachingOf(image.key, expiresAtMillis)),
        'x-amz-meta-width': String(image.width),
        'x-amz-meta-height': String(image.height),
        ...(image.contentCredentials && { [credentialsHeader]: image.contentCredentials }),
        'x-amz-checksum-sha256': createHash('sha256').update(bytes).digest('base64'),
      };
      await call('put', image.key, { method: 'PUT', body: Uint8Array.from(bytes), headers }, (response) =>
        response.arrayBuffer(),
      );
    },
    /** The bytes under the key. Throws when the object does not exist. */
    get: async (key: string): Promise<Uint8Array> => call('get', key, {}, bytesIn),
    /** The bytes of an upload. Undefined when the upload was never filled. */
    upload: async (key: string, signal: AbortSignal): Promise<Uint8Array | undefined> => {
      const found = await call('upload', key, {}, uploadedBytes, signal);
      return found === nothing ? undefined : found;
    },
    /** The properties of the image under the key. Undefined when the object does not exist. */
    find: (key: string): Promise<StoredImage | undefined> =>
      call('find', key, { method: 'HEAD' }, async ({ ok, headers }) =>
        Promise.resolve(ok ? storedImage(key, headers) : undefined),
      ),
    /** Deletes the objects under these keys. A key without an object is no error. */
    remove: async (keys: readonly string[]) => {
      await Promise.all(
        keys.map((key) => call('remove', key, { method: 'DELETE' }, (response) => response.text())),
      );
    },
  };
}

/**
 * A browser may keep a result until the result expires: max-age would begin anew on the last day. A shared
 * cache revalidates with the bucket, so the address of a deleted image stops working without a purge.
 * CloudFront has two caches in a row, at the edge and in the region: both revalidate within a minute.
 *
 * A result with signed addresses is revalidated at each use, so that no cache shows it after its address has
 * expired. CloudFront also checks the signature for cached objects, and caches these for a second.
 */
function cachingOf(key: string, expiresAtMillis: number): Record<string, string> {
  if (key.startsWith(signedPrefix)) return { 'cache-control': 'private, no-cache' };
  return {
    'cache-control': `public, immutable, s-maxage=${sharedCacheSeconds}`,
    expires: new Date(expiresAtMillis).toUTCString(),
  };
}

const nothing = Symbol('no such object');

/** Fills one array as the bytes arrive. At its end, arrayBuffer() would hold the bytes twice. */
async function bytesIn(response: Response): Promise<Uint8Array> {
  const length = response.headers.get('content-length');
  if (!response.ok || length === null) return new Uint8Array(await response.arrayBuffer());
  const bytes = new Uint8Array(Number(length));
  let at = 0;
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    bytes.set(chunk, at);
    at += chunk.byteLength;
  }
  return bytes;
}

/** S3 answers AccessDenied for an absent key without the right to list. Any other 403 is an error. */
async function uploadedBytes(response: Response): Promise<Uint8Array | typeof nothing> {
  if (response.ok) return bytesIn(response);
  const text = await response.text();
  const isAbsent =
    response.status === 404 || (response.status === 403 && text.includes('<Code>AccessDenied</Code>'));
  return isAbsent ? nothing : new Uint8Array();
}

/** Absent on objects that a release before content credentials stored. */
const credentialsHeader = 'x-amz-meta-content-credentials';

function storedImage(key: string, headers: Headers): StoredImage {
  const credentials = headers.get(credentialsHeader);
  return {
    key,
    width: Number(headers.get('x-amz-meta-width')),
    height: Number(headers.get('x-amz-meta-height')),
    contentType: headers.get('content-type') ?? '',
    bytes: Number(headers.get('content-length')),
    ...((credentials === 'present' || credentials === 'absent') && { contentCredentials: credentials }),
  };
}

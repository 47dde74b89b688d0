/**
 * The service's own bucket. Its few plain requests need only a signer of 3 KB. The S3 client of the SDK would
 * add 150 KB to every bundle that stores an image.
 */
import { createHash } from 'node:crypto';
import { AwsClient } from 'aws4fetch';
import type { StoredImage } from '../core/creation.ts';
import type { ImageStore } from '../core/ports/images.ts';
import { Overloaded } from '../core/ports/requests.ts';
import type { Clock } from '../core/ports/runtime.ts';

export interface BucketAccess {
  readonly bucket: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
  /** Replaces the address of S3 in the region. */
  readonly endpoint?: string;
  /** Limits the time of each call. */
  readonly clock: Pick<Clock, 'timeout'>;
  /** Aborts when the time of the request is used up. */
  readonly signal?: AbortSignal;
}

/** How often a call is retried after a 5xx or a throttle. The pauses grow. */
const retries = 4;
/** The time of one call with all its tries. A 4K picture has about 30 MB. */
const callMillis = { put: 40_000, get: 40_000, find: 10_000 } as const;

/**
 * Stores results and copies of source images. Nobody can guess their keys, and the objects never change. Each
 * call throws Overloaded when the bucket is busy or does not answer in time. Then it is unknown whether the
 * object was stored.
 */
export function createImageStore(access: BucketAccess): ImageStore {
  const { clock, signal: outer } = access;
  const client = new AwsClient({ ...access, service: 's3', retries });
  const base =
    access.endpoint === undefined
      ? `https://${access.bucket}.s3.${access.region}.amazonaws.com`
      : `${access.endpoint}/${access.bucket}`;

  /** One call, until the body of the answer is read. */
  async function call<Answer>(
    kind: keyof typeof callMillis,
    key: string,
    init: RequestInit,
    read: (response: Response) => Promise<Answer>,
  ): Promise<Answer> {
    const limit = clock.timeout(callMillis[kind]);
    const signal = outer ? AbortSignal.any([limit.signal, outer]) : limit.signal;
    try {
      const response = await client.fetch(`${base}/${key}`, { ...init, signal });
      const answer = await read(response);
      if (response.ok || (kind === 'find' && response.status === 404)) return answer;
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
    put: async (image, bytes) => {
      const headers = {
        'content-type': image.contentType,
        'cache-control': 'public, max-age=31536000, immutable',
        'x-amz-meta-width': String(image.width),
        'x-amz-meta-height': String(image.height),
        ...(image.contentCredentials && { [credentialsHeader]: image.contentCredentials }),
        'x-amz-checksum-sha256': createHash('sha256').update(bytes).digest('base64'),
      };
      await call('put', image.key, { method: 'PUT', body: Uint8Array.from(bytes), headers }, (response) =>
        response.arrayBuffer(),
      );
    },
    get: async (key) => new Uint8Array(await call('get', key, {}, (response) => response.arrayBuffer())),
    find: (key) =>
      call('find', key, { method: 'HEAD' }, async ({ ok, headers }) =>
        Promise.resolve(ok ? storedImage(key, headers) : undefined),
      ),
  };
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

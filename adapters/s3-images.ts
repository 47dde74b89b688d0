/**
 * The service's own bucket. Two plain requests do not need the S3 SDK, which would add
 * 150 KB to every bundle that stores an image: a signer of 3 KB does.
 */
import { createHash } from 'node:crypto';
import { AwsClient } from 'aws4fetch';
import type { StoredImage } from '../core/creation.ts';
import type { ImageStore } from '../core/ports/images.ts';

export interface BucketAccess {
  readonly bucket: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
  /** Where S3 is, when it is not AWS's own address of the region. */
  readonly endpoint?: string;
}

/** Retries of a 5xx or a throttle, with growing pauses. */
const retries = 4;

/** Results and copied sources, under keys that nobody can guess and that never change. */
export function createImageStore(access: BucketAccess): ImageStore {
  const client = new AwsClient({ ...access, service: 's3', retries });
  const base = access.endpoint === undefined ? `https://${access.bucket}.s3.${access.region}.amazonaws.com` : `${access.endpoint}/${access.bucket}`;
  return {
    put: async (image, bytes) => {
      const response = await client.fetch(`${base}/${image.key}`, {
        method: 'PUT',
        body: Uint8Array.from(bytes),
        headers: {
          'content-type': image.contentType,
          'cache-control': 'public, max-age=31536000, immutable',
          'x-amz-meta-width': String(image.width),
          'x-amz-meta-height': String(image.height),
          'x-amz-checksum-sha256': createHash('sha256').update(bytes).digest('base64'),
        },
      });
      await response.arrayBuffer();
      if (!response.ok) throw new Error(`the bucket answered ${response.status} to a put`);
    },
    get: async (key) => {
      const response = await client.fetch(`${base}/${key}`);
      const bytes = new Uint8Array(await response.arrayBuffer());
      if (!response.ok) throw new Error(`the bucket answered ${response.status} to a get`);
      return bytes;
    },
    find: async (key) => {
      const response = await client.fetch(`${base}/${key}`, { method: 'HEAD' });
      if (response.status === 404) return undefined;
      if (!response.ok) throw new Error(`the bucket answered ${response.status} to a head`);
      return storedImage(key, response.headers);
    },
  };
}

function storedImage(key: string, headers: Headers): StoredImage {
  return {
    key,
    width: Number(headers.get('x-amz-meta-width')),
    height: Number(headers.get('x-amz-meta-height')),
    contentType: headers.get('content-type') ?? '',
    bytes: Number(headers.get('content-length')),
  };
}

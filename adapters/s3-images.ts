import { HeadObjectCommand, NotFound, PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import type { StoredImage } from '../core/creation.ts';
import type { ImageStore } from '../core/ports.ts';

/** Results in the service's own bucket, under keys that nobody can guess and that never change. */
export function createImageStore(client: S3Client, bucket: string): ImageStore {
  return {
    put: async (image, bytes) => {
      await client.send(
        new PutObjectCommand({
          Bucket: bucket,
          Key: image.key,
          Body: bytes,
          ContentType: image.contentType,
          CacheControl: 'public, max-age=31536000, immutable',
          Metadata: { width: String(image.width), height: String(image.height) },
        }),
      );
    },
    find: (key) => findImage(client, bucket, key),
  };
}

async function findImage(client: S3Client, bucket: string, key: string): Promise<StoredImage | undefined> {
  try {
    const head = await client.send(new HeadObjectCommand({ Bucket: bucket, Key: key }));
    return {
      key,
      width: Number(head.Metadata?.['width']),
      height: Number(head.Metadata?.['height']),
      contentType: head.ContentType ?? '',
      bytes: head.ContentLength ?? 0,
    };
  } catch (error) {
    if (error instanceof NotFound) return undefined;
    throw error;
  }
}

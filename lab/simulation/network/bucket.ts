/** The image bucket of the simulation. */
import { AwsError } from '../../../local/aws/aws-error.ts';
import { uploadAddressSeconds } from '../../../service/contract/limits.ts';
import type { StoredImage } from '../../../service/creations/creation.ts';
import type { UploadTargets } from '../../../service/uploads/upload-targets.ts';
import type { ImageStore } from '../../../service/creations/image-store.ts';
import { Overloaded } from '../../../service/values/errors.ts';
import type { Clock } from '../../../service/values/runtime.ts';
import type { World } from '../world/simulated-world.ts';

/** The time limit of each call, as service/creations/image-store.ts sets it. */
const callMillis = { put: 40_000, get: 40_000, find: 10_000, remove: 10_000, upload: 5_000 } as const;

/**
 * Creates an empty bucket that replaces the whole S3 adapter. Like the adapter, it throws Overloaded when the bucket
 * is busy or silent, and another error when the connection breaks.
 */
export function createBucket(world: World, clock: Clock) {
  const stored = new Map<string, StoredImage>();
  const contents = new Map<string, Uint8Array>();
  const uploads = new Map<string, Uint8Array>();

  async function call<Answer>(
    operation: keyof typeof callMillis,
    target: string,
    outer: AbortSignal | undefined,
    effect: () => Answer,
  ): Promise<Answer> {
    const limit = clock.timeout(callMillis[operation]);
    const signal = outer ? AbortSignal.any([limit.signal, outer]) : limit.signal;
    try {
      return await world.call({ service: 'images', operation, target, signal }, effect);
    } catch (error) {
      const isBusy = signal.aborted || error instanceof AwsError;
      throw isBusy ? new Overloaded(`the bucket gave no answer to a ${operation}`, { cause: error }) : error;
    } finally {
      limit.release();
    }
  }

  return {
    stored,
    /** The bytes of the stored images, by their keys. */
    contents,
    /** The uploads that clients have put, by their keys. */
    uploads,
    targets: {
      sign: ({ key, contentType, bytes }, nowMillis) => {
        const headers = { 'content-type': contentType, 'content-length': String(bytes) };
        const until = nowMillis + uploadAddressSeconds * 1000;
        const signed = new URLSearchParams({ until: String(until), headers: JSON.stringify(headers) });
        return Promise.resolve({ url: `https://bucket.test/${key}?${signed.toString()}`, headers });
      },
    } satisfies UploadTargets,
    /** Takes a client's request, as S3 takes a presigned one. Returns the status of the answer. */
    receive: (url: string, headers: Readonly<Record<string, string>>, bytes: Uint8Array): number => {
      const { pathname, searchParams } = new URL(url);
      const signed = JSON.parse(searchParams.get('headers') ?? '{}') as Record<string, string>;
      const isSigned = Object.entries(signed).every(([name, value]) => headers[name] === value);
      if (!isSigned || world.time.now() > Number(searchParams.get('until'))) return 403;
      uploads.set(pathname.slice(1), bytes);
      return 200;
    },
    /** Opens the port for one request. The signal fires when the time of the request is used up. */
    open: (signal?: AbortSignal): ImageStore => ({
      put: (image, bytes) =>
        call('put', image.key.split('/')[0] ?? '', signal, () => {
          stored.set(image.key, image);
          contents.set(image.key, bytes);
        }),
      get: async (key) => {
        const bytes = await call('get', '', signal, () => contents.get(key));
        if (!bytes) throw new Error('there is no such object');
        return bytes;
      },
      upload: (key, own) =>
        call('upload', '', signal ? AbortSignal.any([signal, own]) : own, () => uploads.get(key)),
      find: (key) => call('find', '', signal, () => stored.get(key)),
      remove: async (keys) => {
        await Promise.all(
          keys.map((key) =>
            call('remove', key.split('/')[0] ?? '', signal, () => {
              stored.delete(key);
              contents.delete(key);
            }),
          ),
        );
      },
    }),
  };
}

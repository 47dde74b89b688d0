/** The image bucket of the simulation. */
import type { StoredImage } from '../../core/creation.ts';
import type { ImageStore } from '../../core/ports/images.ts';
import { Overloaded } from '../../core/ports/requests.ts';
import type { Clock } from '../../core/ports/runtime.ts';
import { AwsError } from '../../local/aws/aws-error.ts';
import type { World } from '../world/simulated-world.ts';

export interface Bucket {
  /** Opens the port for one request. The signal fires when the time of the request is used up. */
  readonly open: (signal?: AbortSignal) => ImageStore;
  readonly stored: ReadonlyMap<string, StoredImage>;
}

/** The time limit of each call, as adapters/s3-images.ts sets it. */
const callMillis = { put: 40_000, find: 10_000 } as const;

/**
 * Creates an empty bucket. It takes the place of the whole S3 adapter, so the HTTP requests of that adapter
 * are not simulated. Like the adapter, it throws Overloaded when the bucket is busy or does not answer in
 * time, and another error when the connection breaks.
 */
export function createBucket(world: World, clock: Clock): Bucket {
  const stored = new Map<string, StoredImage>();

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
    open: (signal) => ({
      put: (image) =>
        call('put', image.key.split('/')[0] ?? '', signal, () => void stored.set(image.key, image)),
      get: () => Promise.reject(new Error('the sandbox does not look at source images')),
      find: (key) => call('find', '', signal, () => stored.get(key)),
    }),
  };
}

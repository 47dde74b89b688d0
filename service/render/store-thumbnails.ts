import { thumbnailKey } from '../creations/thumbnails.ts';
import type { CreationId } from '../values/ids.ts';
import { errorName } from '../values/runtime.ts';
import type { CompletionServices } from './open.ts';
import type { Rendering } from './walk-routes.ts';

/** Of the making and of the two calls to the bucket together. */
const mostMillis = 15_000;
const dayMillis = 86_400_000;

export type Stored = Pick<Rendering, 'image' | 'bytes'>;

/**
 * Makes and stores the thumbnails of a result, and then notes them in the record. It comes after the commit and after
 * the first attempt of the webhook: the work of a small function's processor would delay both, and a picture that is
 * too much for the process costs neither. Nothing is thrown, and nothing is tried again.
 */
export async function storeThumbnails(
  id: CreationId,
  stored: Stored | undefined,
  { clock, creations, imagesUntil, log, resultDays, thumbnails }: CompletionServices,
): Promise<void> {
  if (!stored?.bytes || !thumbnails) return;
  const limit = clock.timeout(mostMillis);
  try {
    const made = await thumbnails(stored.bytes, limit.signal);
    const images = imagesUntil(limit.signal);
    const expiresAtMillis = clock.now() + resultDays * dayMillis;
    await Promise.all(
      (['small', 'large'] as const).map((form) => {
        const { bytes, width, height } = made[form];
        const key = thumbnailKey(stored.image.key, form);
        const image = { key, width, height, contentType: 'image/webp', bytes: bytes.length };
        return images.put(image, bytes, expiresAtMillis);
      }),
    );
    await creations.noteThumbnails(id, made.colours);
  } catch (error) {
    log.info('thumbnails_not_made', { creationId: id, error: errorName(error) });
  } finally {
    limit.release();
  }
}

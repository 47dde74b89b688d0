import { thumbnailKey } from '../creations/thumbnails.ts';
import type { CreationId } from '../values/ids.ts';
import { errorName } from '../values/runtime.ts';
import type { CompletionServices } from './open.ts';
import type { Rendering } from './walk-routes.ts';

/** Of the making and of the two calls to the bucket together. */
const mostMillis = 15_000;
const dayMillis = 86_400_000;

const forms = ['small', 'large'] as const;
type Form = (typeof forms)[number];

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
    const keyOf = (form: Form): string => thumbnailKey(stored.image.key, form);
    await Promise.all(
      forms.map((form) => {
        const { bytes, width, height } = made[form];
        const image = { key: keyOf(form), width, height, contentType: 'image/webp', bytes: bytes.length };
        return images.put(image, bytes, expiresAtMillis);
      }),
    );
    const isNoted = await creations.noteThumbnails(id, made.colours);
    // The images were deleted meanwhile, and these two came too late for it.
    if (!isNoted) await images.remove(forms.map(keyOf));
  } catch (error) {
    log.info('thumbnails_not_made', { creationId: id, error: errorName(error) });
  } finally {
    limit.release();
  }
}

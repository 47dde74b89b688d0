/** The uploads that image_urls names: their records, and their bytes. */
import type { Upload } from '../../../core/upload.ts';
import { namesUpload, uploadAddress, uploadIdsIn } from '../../../core/upload.ts';
import type { Caller } from '../../http/caller.ts';
import { uploadNotUsable } from '../../http/problems.ts';
import type { QuoteServices } from '../../services/api.ts';
import type { SubmitServices } from '../../services/submit.ts';

/**
 * The uploads of the list, by their entries. Throws 400 for the first entry that names no upload of this
 * account, or an expired one.
 */
export async function findUploads(
  imageUrls: readonly string[],
  { account, nowMillis }: Caller,
  { uploads }: Pick<QuoteServices, 'uploads'>,
): Promise<ReadonlyMap<string, Upload>> {
  const ids = uploadIdsIn(imageUrls);
  if (ids.length === 0) return new Map();
  const usable = await uploads.usable(account.id, ids, nowMillis);
  const found = new Map(usable.map((upload) => [uploadAddress(upload.id), upload]));
  const missing = imageUrls.findIndex((address) => namesUpload(address) && !found.has(address));
  if (missing >= 0) throw uploadNotUsable(missing);
  return found;
}

/** The bytes of the upload at this position of `image_urls`. Throws 400 when the upload was never filled. */
export async function readUpload(
  { key }: Upload,
  index: number,
  signal: AbortSignal,
  { images }: Pick<SubmitServices, 'images'>,
): Promise<Uint8Array> {
  const bytes = await images.upload(key, signal);
  if (!bytes) throw uploadNotUsable(index);
  return bytes;
}

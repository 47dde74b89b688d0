/** Counts what is see-through in a picture. Bundled as a file of its own, which only a request for it loads. */
import { type ImageHeader, readImageHeader } from '../../values/image-bytes.ts';
import type { Opacities } from './opacities.ts';
import { pngOpacities } from './png-opacities.ts';
import { webpOpacities } from './webp-opacities.ts';

export interface PixelLimits {
  readonly signal: AbortSignal;
  /** What decoding may take. */
  readonly mostBytes: number;
}

/** A pixel with less opacity is see-through. */
const seeThroughBelow = 128;
/** The share of see-through pixels from which on a picture is transparent. */
const leastShare = 0.01;

/**
 * Whether at least 1 % of the pixels are see-through. The count ends there, so that a cut-out takes some rows.
 * @throws when the picture is of no kind that is read, broken, too large for the memory, or too late
 */
export async function isTransparent(bytes: Uint8Array, limits: PixelLimits): Promise<boolean> {
  const header = readImageHeader(bytes);
  if (!header) throw new Error('no picture');
  const opacities = await opacitiesOf(bytes, header, limits.mostBytes);
  if (!opacities) return false;
  const pixels = header.width * header.height;
  const enough = Math.ceil(pixels * leastShare);
  let [read, found] = [0, 0];
  for await (const row of opacities) {
    limits.signal.throwIfAborted();
    for (let x = 0; x < row.length; x++) if ((row[x] ?? 0) < seeThroughBelow) found += 1;
    if (found >= enough) return true;
    read += row.length;
  }
  if (read < pixels) throw new Error('rows are missing');
  return false;
}

/** Undefined: the file holds no opacities. */
async function opacitiesOf(
  bytes: Uint8Array,
  header: ImageHeader,
  mostBytes: number,
): Promise<Opacities | undefined> {
  switch (header.contentType) {
    case 'image/jpeg':
      return undefined;
    case 'image/png':
      return pngOpacities(bytes, header);
    case 'image/webp':
      return webpOpacities(bytes, header, mostBytes);
  }
}

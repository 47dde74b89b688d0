/** Makes the thumbnails of a picture from its bytes. Bundled as a file of its own, which a rendering loads late. */
import { thumbnailSides } from '../../contract/limits.ts';
import type { Thumbnail, Thumbnails } from '../../creations/thumbnails.ts';
import { readImageHeader } from '../../values/image-bytes.ts';
import { encodeWebp } from './encode.ts';
import { decodeJpeg } from './jpeg.ts';
import { pngRows } from './png.ts';
import { fitting, type Pixels, type Rows, rowsOf, shrink } from './shrink.ts';

export interface ThumbnailLimits {
  readonly signal: AbortSignal;
  /** What decoding may take. */
  readonly mostBytes: number;
}

/** The largest picture whose pixels are counted at all: 8K. */
const mostPixels = 40_000_000;
/** Bytes. 25 large ones are at most 300 KB. */
const mostEncoded = { small: 3_000, large: 12_000 } as const;

/** Throws when the picture is of no kind that is read, broken, too large for the memory, or too late. */
export async function makeThumbnails(bytes: Uint8Array, limits: ThumbnailLimits): Promise<Thumbnails> {
  const decoded = await decode(bytes, limits.mostBytes);
  const large = await shrink(decoded, fitting(decoded, thumbnailSides.large), limits.signal);
  if (Math.min(large.width, large.height) < 3) throw new Error('a picture that is too small');
  const small = await shrink(rowsOf(large), fitting(large, thumbnailSides.small));
  const nine = await shrink(rowsOf(large), { width: 3, height: 3 });
  return {
    small: await encoded(small, 'small'),
    large: await encoded(large, 'large'),
    colours: coloursOf(nine),
  };
}

async function decode(bytes: Uint8Array, mostBytes: number): Promise<Rows> {
  const header = readImageHeader(bytes);
  const pixels = (header?.width ?? 0) * (header?.height ?? 0);
  if (!header || pixels > mostPixels) throw new Error('a picture that is too large');
  switch (header.contentType) {
    case 'image/png':
      return pngRows(bytes, header);
    case 'image/jpeg':
      return rowsOf(await decodeJpeg(bytes, { side: thumbnailSides.large, mostBytes }));
    case 'image/webp': {
      const { decodeWebp } = await import('./webp.ts');
      return rowsOf(await decodeWebp(bytes, header, mostBytes));
    }
  }
}

async function encoded(pixels: Pixels, form: keyof typeof thumbnailSides): Promise<Thumbnail> {
  const { width, height } = pixels;
  return { width, height, bytes: await encodeWebp(pixels, mostEncoded[form]) };
}

function coloursOf({ data }: Pixels): string {
  return Buffer.from(data.filter((_, i) => i % 4 < 3)).toString('hex');
}

/** Makes the thumbnails of a picture from its bytes. Bundled as a file of its own, which a rendering loads late. */
import { thumbnailSides } from '../../contract/limits.ts';
import type { Thumbnail, Thumbnails } from '../../creations/thumbnails.ts';
import { decode } from './decode.ts';
import { encodeWebp } from './encode.ts';
import { fitting, type Pixels, rowsOf, shrink } from './shrink.ts';

export interface ThumbnailLimits {
  readonly signal: AbortSignal;
  /** What decoding may take. */
  readonly mostBytes: number;
}

/** Bytes. 25 large ones are at most 300 KB. */
const mostEncoded = { small: 3_000, large: 12_000 } as const;

/** Throws when the picture is of no kind that is read, broken, too large for the memory, or too late. */
export async function makeThumbnails(bytes: Uint8Array, limits: ThumbnailLimits): Promise<Thumbnails> {
  const decoded = await decode(bytes, { side: thumbnailSides.large, mostBytes: limits.mostBytes });
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

async function encoded(pixels: Pixels, form: keyof typeof thumbnailSides): Promise<Thumbnail> {
  const { width, height } = pixels;
  return { width, height, bytes: await encodeWebp(pixels, mostEncoded[form]) };
}

function coloursOf({ data }: Pixels): string {
  return Buffer.from(data.filter((_, i) => i % 4 < 3)).toString('hex');
}

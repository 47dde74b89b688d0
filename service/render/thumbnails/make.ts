/** Makes the thumbnails of a picture from its bytes. Bundled as a file of its own, which a rendering loads late. */
import { type Thumbnail, type Thumbnails, thumbnailSides } from '../../creations/thumbnails.ts';
import { readImageHeader } from '../../values/image-bytes.ts';
import { encodeJpeg } from './encode.ts';
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
/** What libwebp takes for each pixel, with the copy that it gives. */
const webpBytesPerPixel = 8;

/** Throws when the picture is of no kind that is read, broken, too large for the memory, or too late. */
export async function makeThumbnails(bytes: Uint8Array, limits: ThumbnailLimits): Promise<Thumbnails> {
  const decoded = await decode(bytes, limits);
  const large = await shrink(decoded, fitting(decoded, thumbnailSides.large), limits.signal);
  if (Math.min(large.width, large.height) < 3) throw new Error('a picture that is too small');
  const small = await shrink(rowsOf(large), fitting(large, thumbnailSides.small));
  const nine = await shrink(rowsOf(large), { width: 3, height: 3 });
  return { small: encoded(small, 'small'), large: encoded(large, 'large'), colours: coloursOf(nine) };
}

async function decode(bytes: Uint8Array, { signal, mostBytes }: ThumbnailLimits): Promise<Rows> {
  const header = readImageHeader(bytes);
  const pixels = (header?.width ?? 0) * (header?.height ?? 0);
  if (!header || pixels > mostPixels) throw new Error('a picture that is too large');
  switch (header.contentType) {
    case 'image/png':
      return pngRows(bytes, header);
    case 'image/webp':
      if (pixels * webpBytesPerPixel + 2 * bytes.length > mostBytes)
        throw new Error('a WebP that is too large for the memory');
      return rowsOf(await decodeWebpLate(bytes));
    case 'image/jpeg':
      return inTurns(decodeJpeg(bytes, { side: thumbnailSides.large, mostBytes }), signal);
  }
}

async function decodeWebpLate(bytes: Uint8Array): Promise<Pixels> {
  const { decodeWebp } = await import('./webp.ts');
  return decodeWebp(bytes);
}

/** Timers and requests can run after so much work. */
const turnMillis = 20;

async function inTurns<Result>(steps: Generator<void, Result>, signal: AbortSignal): Promise<Result> {
  let began = performance.now();
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    if (performance.now() - began < turnMillis) continue;
    await new Promise((resolve) => setImmediate(resolve));
    signal.throwIfAborted();
    began = performance.now();
  }
}

function encoded(pixels: Pixels, form: keyof typeof thumbnailSides): Thumbnail {
  const { width, height } = pixels;
  return { width, height, bytes: encodeJpeg(pixels, mostEncoded[form]) };
}

function coloursOf({ data }: Pixels): string {
  return Buffer.from(data.filter((_, i) => i % 4 < 3)).toString('hex');
}

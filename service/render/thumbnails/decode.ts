/** Decodes a picture of any kind that is read. */
import { readImageHeader } from '../../values/image-bytes.ts';
import { decodeJpeg, type JpegLimits } from './jpeg.ts';
import { pngRows } from './png.ts';
import { type Rows, rowsOf } from './shrink.ts';

/** The largest picture whose pixels are counted at all: 8K. */
const mostPixels = 40_000_000;

/**
 * @param limits a JPEG is decoded no larger than `side` asks for
 * @throws when the picture is of no kind that is read, broken, or too large for the memory
 */
export async function decode(bytes: Uint8Array, { side, mostBytes }: JpegLimits): Promise<Rows> {
  const header = readImageHeader(bytes);
  const pixels = (header?.width ?? 0) * (header?.height ?? 0);
  if (!header || pixels > mostPixels) throw new Error('a picture that is too large');
  switch (header.contentType) {
    case 'image/png':
      return pngRows(bytes, header);
    case 'image/jpeg':
      return rowsOf(await decodeJpeg(bytes, { side, mostBytes }));
    case 'image/webp': {
      const { decodeWebp } = await import('./webp.ts');
      return rowsOf(await decodeWebp(bytes, header, mostBytes));
    }
  }
}

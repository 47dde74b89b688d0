/**
 * The opacities of a WebP (RFC 9649). Beside a lossy picture they are a lossless picture of one sample in the chunk
 * ALPH, which libwebp decodes without the colours. A lossless picture is decoded whole.
 */
import { ascii, has, littleEndian } from '../../values/text.ts';
import type { Size } from '../thumbnails/shrink.ts';
import type { Opacities } from './opacities.ts';

/** Undefined: every pixel is opaque. Throws as decodeWebp does. */
export async function webpOpacities(
  bytes: Uint8Array,
  size: Size,
  mostBytes: number,
): Promise<Opacities | undefined> {
  const opacities = chunkOf(bytes, 'ALPH');
  if (opacities) return [await besideColours(opacities, size, mostBytes)];
  const lossless = chunkOf(bytes, 'VP8L');
  // The 29th bit of the header says whether the picture has opacities.
  if (!lossless || ((lossless[4] ?? 0) & 0x10) === 0) return undefined;
  return [sampleOf(await decoded(bytes, size, mostBytes), 3)];
}

function chunkOf(bytes: Uint8Array, name: string): Uint8Array | undefined {
  for (let at = 12; at + 8 <= bytes.length;) {
    const length = littleEndian(bytes, at + 4, 4);
    if (has(bytes, at, ascii(name))) return bytes.subarray(at + 8, at + 8 + length);
    // A chunk of an odd length has a byte more.
    at += 8 + length + (length & 1);
  }
  return undefined;
}

/** RFC 9649, 2.7.1.2: the first byte names compression and filter. */
async function besideColours(chunk: Uint8Array, size: Size, mostBytes: number): Promise<Uint8Array> {
  const [head = 0] = chunk;
  const data = chunk.subarray(1);
  const isPlain = (head & 3) === 0;
  // A lossless picture keeps opacities in its green.
  const filtered = isPlain
    ? Uint8Array.from(data)
    : sampleOf(await decoded(losslessFile(data, size), size, mostBytes), 1);
  if (filtered.length !== size.width * size.height) throw new Error('a WebP that is broken');
  unfilter(filtered, size.width, (head >> 2) & 3);
  return filtered;
}

async function decoded(bytes: Uint8Array, size: Size, mostBytes: number): Promise<ArrayLike<number>> {
  const { decodeWebp } = await import('../thumbnails/webp.ts');
  return (await decodeWebp(bytes, size, mostBytes)).data;
}

function sampleOf(data: ArrayLike<number>, sample: number): Uint8Array {
  const out = new Uint8Array(data.length / 4);
  for (let i = 0, at = sample; i < out.length; i++, at += 4) out[i] = data[at] ?? 0;
  return out;
}

/** The chunk ALPH leaves out the header of its picture: a signature, and the sides with 14 bits each. */
function losslessFile(data: Uint8Array, { width, height }: Size): Uint8Array {
  const picture = Buffer.alloc(5 + data.length);
  picture[0] = 0x2f;
  picture.writeUInt32LE((((height - 1) << 14) | (width - 1)) >>> 0, 1);
  picture.set(data, 5);
  const padding = picture.length & 1;
  const head = Buffer.from('RIFF....WEBPVP8L....');
  head.writeUInt32LE(12 + picture.length + padding, 4);
  head.writeUInt32LE(picture.length, 16);
  return Buffer.concat([head, picture, Buffer.alloc(padding)]);
}

/** Each opacity was written as its difference to a neighbour: at the left, above, or both less the corner. */
function unfilter(data: Uint8Array, width: number, filter: number): void {
  if (filter === 0) return;
  for (let start = 0; start < data.length; start += width) {
    const isFirstRow = start === 0;
    // The first row knows its left neighbours alone, and the first pixel of another row the one above.
    if (!isFirstRow) data[start] = (data[start] ?? 0) + (data[start - width] ?? 0);
    for (let i = start + 1; i < start + width; i++) {
      const left = data[i - 1] ?? 0;
      const up = data[i - width] ?? 0;
      const guess =
        isFirstRow || filter === 1
          ? left
          : filter === 2
            ? up
            : clamped(left + up - (data[i - width - 1] ?? 0));
      data[i] = (data[i] ?? 0) + guess;
    }
  }
}

function clamped(value: number): number {
  return value < 0 ? 0 : value > 255 ? 255 : value;
}

/** Decodes WebP by Google's libwebp. Bundled as a file of its own: only a WebP makes a rendering load it. */
import createDecoder from '@jsquash/webp/codec/dec/webp_dec.js';
import type { Pixels, Size } from './shrink.ts';
import { codecsOf } from './wasm.ts';

const openDecoder = codecsOf(createDecoder, '@jsquash/webp/codec/dec/webp_dec.wasm');

/** Four in the decoder, and four in the copy that it gives. */
const bytesPerPixel = 8;

/** @throws when the file is an animation, broken, cut off or too large for the memory */
export async function decodeWebp(
  bytes: Uint8Array,
  { width, height }: Size,
  mostBytes: number,
): Promise<Pixels> {
  if (width * height * bytesPerPixel + 2 * bytes.length > mostBytes)
    throw new Error('a WebP that is too large');
  const decoder = await openDecoder();
  const pixels = decoder.decode(bytes);
  if (!pixels) throw new Error('a WebP that is broken');
  return pixels;
}

/** Encodes WebP by Google's libwebp. */
import createEncoder from '@jsquash/webp/codec/enc/webp_enc_simd.js';
import { defaultOptions } from '@jsquash/webp/meta.js';
import type { Pixels } from './shrink.ts';
import { codecsOf } from './wasm.ts';

const openEncoder = codecsOf(createEncoder, '@jsquash/webp/codec/enc/webp_enc_simd.wasm');
/** One for all pictures: it reads pixels, which cannot break it. */
let opened: ReturnType<typeof openEncoder> | undefined;

/** From 0 to 6. 2 takes a third more of the time, and has little better pictures of these bytes. */
const method = 1;
const qualities = [50, 40, 30, 25, 20, 15, 10, 5, 2, 1];
/**
 * Of the first quality's bytes, what each one takes: the medians of 21 photographs. A quality that would be too large
 * by its share is not tried.
 */
const shares = [1, 0.88, 0.76, 0.7, 0.62, 0.54, 0.46, 0.37, 0.3, 0.25];

/** A WebP of at most so many bytes. Noise that is larger in each quality comes in the lowest one. */
export async function encodeWebp({ data, width, height }: Pixels, mostBytes: number): Promise<Uint8Array> {
  const encoder = await (opened ??= openEncoder());
  const encodedAt = (quality: number): Uint8Array => {
    const bytes = encoder.encode(data, width, height, { ...defaultOptions, method, quality });
    if (!bytes) throw new Error('a picture that cannot be encoded');
    return bytes;
  };
  let first = 0;
  for (const [place, quality] of qualities.entries()) {
    if (first * (shares[place] ?? 0) > mostBytes) continue;
    const bytes = encodedAt(quality);
    if (bytes.length <= mostBytes) return bytes;
    first ||= bytes.length;
  }
  return encodedAt(0);
}

/** Encodes WebP by Google's libwebp. */
import createEncoder from '@jsquash/webp/codec/enc/webp_enc.js';
import { defaultOptions } from '@jsquash/webp/meta.js';
import type { Pixels } from './shrink.ts';
import { codecsOf } from './wasm.ts';

const openEncoder = codecsOf(createEncoder, '@jsquash/webp/codec/enc/webp_enc.wasm');
/** One for all pictures: it reads pixels, which cannot break it. */
let opened: ReturnType<typeof openEncoder> | undefined;

/** From 0 to 6. Above 2, twice the time saves 3 % of the bytes. */
const method = 2;
const qualities = [50, 40, 30, 25, 20, 15, 10, 5, 2];
/**
 * Of the first quality's bytes, what each one takes: the medians of 20 photographs. A quality that would be too large
 * by its share is not tried.
 */
const shares = [1, 0.88, 0.75, 0.68, 0.62, 0.54, 0.47, 0.39, 0.32];

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

/** WebP, by Google's own decoder as WebAssembly. Only a WebP makes a rendering load it. */
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import createDecoder from '@jsquash/webp/codec/dec/webp_dec.js';
import type { Pixels } from './shrink.ts';

/** In a bundle, the file lies beside (lib/bundling/bundle.ts). */
const beside = new URL('webp_dec.wasm', import.meta.url);
const packaged = '@jsquash/webp/codec/dec/webp_dec.wasm';

/**
 * Throws for an animation and for a broken file. Each picture has a decoder of its own: its memory goes with it, and
 * what a hostile file does to that memory meets no other picture.
 */
export async function decodeWebp(bytes: Uint8Array): Promise<Pixels> {
  const file = existsSync(beside) ? beside : createRequire(import.meta.url).resolve(packaged);
  const decoder = await createDecoder({ noInitialRun: true, wasmBinary: readFileSync(file) });
  const pixels = decoder.decode(bytes);
  if (!pixels) throw new Error('a WebP that is broken');
  return pixels;
}

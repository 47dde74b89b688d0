/** PNG, some rows at a time: deflate needs 32 KB, so the largest picture takes hardly more memory than its file. */
import { Readable, pipeline } from 'node:stream';
import { createInflate } from 'node:zlib';
import { bigEndian } from '../../values/text.ts';
import type { Rows, Size } from './shrink.ts';

/** Samples of a pixel by colour type: grey, RGB, palette, grey with opacity, RGBA. */
const samplesOf: Readonly<Record<number, number>> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };
const depthsOf: Readonly<Record<number, readonly number[]>> = {
  0: [1, 2, 4, 8, 16],
  2: [8, 16],
  3: [1, 2, 4, 8],
  4: [8, 16],
  6: [8, 16],
};

interface Form extends Size {
  readonly depth: number;
  readonly colour: number;
  readonly samples: number;
  /** RGBA of each colour. */
  readonly palette: Uint8Array;
}

/** Throws for Adam7 and for a transparent colour without a palette, which no vendor sends. */
export function pngRows(bytes: Uint8Array, { width, height }: Size): Rows {
  const [depth = 0, colour = 0, , , interlace] = bytes.subarray(24, 29);
  const { data, palette, opacities } = chunksOf(bytes);
  if (interlace !== 0 || !depthsOf[colour]?.includes(depth) || (opacities && colour !== 3))
    throw new Error('a PNG of a kind that is not read');
  const samples = samplesOf[colour] ?? 1;
  const form = { width, height, depth, colour, samples, palette: withOpacities(palette, opacities) };
  return { width, height, rows: rowsIn(data, form) };
}

export function chunksOf(bytes: Uint8Array) {
  const data: Uint8Array[] = [];
  let palette: Uint8Array = new Uint8Array();
  let opacities: Uint8Array | undefined;
  for (let at = 8; at + 12 <= bytes.length;) {
    const length = bigEndian(bytes, at, 4);
    const type = String.fromCharCode(...bytes.subarray(at + 4, at + 8));
    const body = bytes.subarray(at + 8, at + 8 + length);
    if (type === 'IDAT') data.push(body);
    if (type === 'PLTE') palette = Uint8Array.from(body);
    if (type === 'tRNS') opacities = body;
    if (type === 'IEND') break;
    at += 12 + length;
  }
  return { data, palette, opacities };
}

function withOpacities(palette: Uint8Array, opacities: Uint8Array = new Uint8Array()): Uint8Array {
  const colours = new Uint8Array(256 * 4).fill(255);
  for (let i = 0; i * 3 < palette.length && i < 256; i++)
    colours.set([...palette.subarray(i * 3, i * 3 + 3), opacities[i] ?? 255], i * 4);
  return colours;
}

/** The pixels, still filtered. */
export function inflated(data: readonly Uint8Array[]): AsyncIterable<Uint8Array> {
  const inflate = createInflate({ chunkSize: 1 << 18 });
  // Who reads the parts sees every error.
  pipeline(Readable.from(data, { objectMode: true }), inflate, () => undefined);
  return inflate;
}

async function* rowsIn(data: readonly Uint8Array[], form: Form): AsyncGenerator<Uint8Array> {
  const { width, height, depth, samples } = form;
  const pixelBytes = Math.max(1, (samples * depth) >> 3);
  // One byte before each row names its filter.
  let row = new Uint8Array(1 + Math.ceil((width * samples * depth) / 8));
  let above = new Uint8Array(row.length);
  let [filled, done] = [0, 0];
  for await (const chunk of inflated(data)) {
    const out = new Uint8Array(Math.ceil((filled + chunk.length) / row.length) * width * 4).fill(255);
    let used = 0;
    for (let at = 0; at < chunk.length && done < height;) {
      const part = chunk.subarray(at, at + row.length - filled);
      row.set(part, filled);
      at += part.length;
      filled += part.length;
      if (filled < row.length) break;
      unfilter(row, above, pixelBytes);
      toRgba(row, form, out.subarray(used, used + width * 4));
      used += width * 4;
      done += 1;
      filled = 0;
      const next = above;
      above = row;
      row = next;
    }
    yield out.subarray(0, used);
    if (done === height) return;
  }
}

/** PNG, second edition, 9.2: each byte was written as its difference to the bytes at the left and above. */
function unfilter(row: Uint8Array, above: Uint8Array, step: number): void {
  const filter = row[0] ?? 0;
  if (filter > 4) throw new Error('a PNG with an unknown filter');
  // The first pixel has no left neighbour: Paeth is then the byte above, and the mean half of it.
  for (let i = 1; i <= step && filter > 1; i++)
    row[i] = (row[i] ?? 0) + ((above[i] ?? 0) >> (filter === 3 ? 1 : 0));
  if (filter === 1) for (let i = 1 + step; i < row.length; i++) row[i] = (row[i] ?? 0) + (row[i - step] ?? 0);
  if (filter === 2) for (let i = 1 + step; i < row.length; i++) row[i] = (row[i] ?? 0) + (above[i] ?? 0);
  if (filter === 3)
    for (let i = 1 + step; i < row.length; i++)
      row[i] = (row[i] ?? 0) + (((row[i - step] ?? 0) + (above[i] ?? 0)) >> 1);
  if (filter === 4)
    for (let i = 1 + step; i < row.length; i++) {
      const left = row[i - step] ?? 0;
      const up = above[i] ?? 0;
      const corner = above[i - step] ?? 0;
      const a = Math.abs(up - corner);
      const b = Math.abs(left - corner);
      const c = Math.abs(left + up - 2 * corner);
      row[i] = (row[i] ?? 0) + (a <= b && a <= c ? left : b <= c ? up : corner);
    }
}

function toRgba(row: Uint8Array, form: Form, out: Uint8Array): void {
  const { width, colour, samples, palette, depth } = form;
  // Of 16 bits the first eight are enough.
  const step = depth === 16 ? 2 : 1;
  for (let x = 0, p = 0, i = 1; x < width; x++, p += 4, i += samples * step) {
    if (colour === 3) {
      const index = packed(row, x, depth) * 4;
      for (let c = 0; c < 4; c++) out[p + c] = palette[index + c] ?? 0;
    } else if (samples === 3) {
      out[p] = row[i] ?? 0;
      out[p + 1] = row[i + step] ?? 0;
      out[p + 2] = row[i + 2 * step] ?? 0;
    } else if (samples > 3) for (let c = 0; c < samples; c++) out[p + c] = row[i + c * step] ?? 0;
    else {
      const grey = depth < 8 ? (packed(row, x, depth) * 255) / ((1 << depth) - 1) : (row[i] ?? 0);
      out[p] = out[p + 1] = out[p + 2] = grey;
      if (samples === 2) out[p + 3] = row[i + step] ?? 0;
    }
  }
}

/** A sample of up to eight bits. The first sample is in the highest bits. */
function packed(row: Uint8Array, x: number, depth: number): number {
  const bit = x * depth;
  return ((row[1 + (bit >> 3)] ?? 0) >> (8 - depth - (bit & 7))) & ((1 << depth) - 1);
}

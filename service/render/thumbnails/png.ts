/** PNG as RGBA, a row at a time. */
import { bigEndian } from '../../values/text.ts';
import { samplesIn } from './png-samples.ts';
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

async function* rowsIn(data: readonly Uint8Array[], form: Form): AsyncGenerator<Uint8Array> {
  const wanted = Array.from({ length: form.samples }, (_, sample) => sample);
  const out = new Uint8Array(form.width * 4).fill(255);
  let last: readonly Uint8Array[] = [];
  for await (const samples of samplesIn(data, { ...form, wanted })) {
    // The same arrays again: the row is as the one above.
    if (samples !== last) toRgba(samples, form, out);
    last = samples;
    yield out;
  }
}

function toRgba(
  [first = none, second = none, third = none, fourth = none]: readonly Uint8Array[],
  { width, colour, samples, palette, depth }: Form,
  out: Uint8Array,
): void {
  if (colour === 3)
    for (let x = 0, p = 0; x < width; x++, p += 4) {
      const index = packed(first, x, depth) * 4;
      for (let c = 0; c < 4; c++) out[p + c] = palette[index + c] ?? 0;
    }
  else if (samples > 2)
    for (let x = 1, p = 0; x <= width; x++, p += 4) {
      out[p] = first[x] ?? 0;
      out[p + 1] = second[x] ?? 0;
      out[p + 2] = third[x] ?? 0;
      if (samples > 3) out[p + 3] = fourth[x] ?? 0;
    }
  else
    for (let x = 0, p = 0; x < width; x++, p += 4) {
      const grey = depth < 8 ? (packed(first, x, depth) * 255) / ((1 << depth) - 1) : (first[x + 1] ?? 0);
      out[p] = out[p + 1] = out[p + 2] = grey;
      if (samples === 2) out[p + 3] = second[x + 1] ?? 0;
    }
}

const none = new Uint8Array();

/** A sample of up to eight bits. The first sample is in the highest bits. */
function packed(row: Uint8Array, x: number, depth: number): number {
  const bit = x * depth;
  return ((row[1 + (bit >> 3)] ?? 0) >> (8 - depth - (bit & 7))) & ((1 << depth) - 1);
}

/** The opacities of a PNG. Each filter works on one sample alone, so the colours stay filtered. */
import { chunksOf, inflated, pngRows } from '../thumbnails/png.ts';
import type { Rows, Size } from '../thumbnails/shrink.ts';
import type { Opacities } from './opacities.ts';

/** Samples of a pixel by the colour types that have a sample for the opacity. */
const samplesOf: Readonly<Record<number, number>> = { 4: 2, 6: 4 };

/** Undefined: every pixel is opaque. Throws for Adam7 and for a transparent colour without a palette. */
export function pngOpacities(bytes: Uint8Array, size: Size): Opacities | undefined {
  const [depth = 0, colour = 0, , , interlace] = bytes.subarray(24, 29);
  const { data, opacities } = chunksOf(bytes);
  const samples = samplesOf[colour];
  if (samples === undefined) return opacities ? fourths(pngRows(bytes, size).rows) : undefined;
  if (interlace !== 0 || (depth !== 8 && depth !== 16)) throw new Error('a PNG of a kind that is not read');
  return opacitiesIn(data, { ...size, samples, sampleBytes: depth / 8 });
}

async function* fourths(rows: Rows['rows']): AsyncGenerator<Uint8Array> {
  for await (const row of rows) yield Uint8Array.from(row.filter((_, i) => i % 4 === 3));
}

interface Form extends Size {
  readonly samples: number;
  readonly sampleBytes: number;
}

async function* opacitiesIn(
  data: readonly Uint8Array[],
  { width, height, samples, sampleBytes }: Form,
): AsyncGenerator<Uint8Array> {
  const step = samples * sampleBytes;
  // One byte before each row names its filter.
  const rowBytes = 1 + width * step;
  // Of 16 bits the first eight are enough.
  const first = rowBytes - (width - 1) * step - sampleBytes;
  // Each begins with the zero that stands for the neighbour of the first pixel.
  let above = new Uint8Array(1 + width);
  let row = new Uint8Array(1 + width);
  let rest: Uint8Array = new Uint8Array();
  let done = 0;
  for await (const chunk of inflated(data)) {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let at = 0;
    for (; at + rowBytes <= bytes.length && done < height; at += rowBytes, done += 1) {
      unfilter(bytes[at] ?? 0, bytes, at + first, step, row, above);
      yield row.subarray(1);
      [above, row] = [row, above];
    }
    if (done === height) return;
    rest = bytes.subarray(at);
  }
}

/**
 * PNG, second edition, 9.2, for every `step`th byte from `from` on. A loop for each filter: one loop with all filters
 * takes twice the time.
 */
function unfilter(
  filter: number,
  bytes: Uint8Array,
  from: number,
  step: number,
  row: Uint8Array,
  above: Uint8Array,
): void {
  let left = 0;
  let at = from;
  if (filter === 0) for (let x = 1; x < row.length; x++, at += step) row[x] = bytes[at] ?? 0;
  else if (filter === 1)
    for (let x = 1; x < row.length; x++, at += step) {
      left = ((bytes[at] ?? 0) + left) & 255;
      row[x] = left;
    }
  else if (filter === 2)
    for (let x = 1; x < row.length; x++, at += step) row[x] = (bytes[at] ?? 0) + (above[x] ?? 0);
  else if (filter === 3)
    for (let x = 1; x < row.length; x++, at += step) {
      left = ((bytes[at] ?? 0) + ((left + (above[x] ?? 0)) >> 1)) & 255;
      row[x] = left;
    }
  else if (filter === 4) {
    let corner = 0;
    for (let x = 1; x < row.length; x++, at += step) {
      const up = above[x] ?? 0;
      left = ((bytes[at] ?? 0) + nearest(left, up, corner)) & 255;
      row[x] = left;
      corner = up;
    }
  } else throw new Error('a PNG with an unknown filter');
}

/** Paeth: of the three neighbours the one that is nearest to left + up - corner. */
function nearest(left: number, up: number, corner: number): number {
  // Most neighbours are alike.
  if (up === corner) return left;
  const a = Math.abs(up - corner);
  const b = Math.abs(left - corner);
  const c = Math.abs(left + up - 2 * corner);
  return a <= b && a <= c ? left : b <= c ? up : corner;
}

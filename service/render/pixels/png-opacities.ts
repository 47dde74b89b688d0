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
  let done = 0;
  for await (const bytes of wholeRows(data, rowBytes)) {
    for (let at = 0; at < bytes.length && done < height; at += rowBytes, done += 1) {
      const filter = bytes[at] ?? 0;
      // Without a difference, Up and Paeth repeat the row above. That is most of a picture that is opaque after all.
      if (filter < 2 || filter === 3 || !isZero(bytes, at + first, at + rowBytes, step)) {
        unfilter(filter, bytes, at + first, step, row, above);
        [above, row] = [row, above];
      }
      yield above.subarray(1);
    }
    if (done === height) return;
  }
}

/** In each part all rows that one chunk holds, or the row that two chunks share. */
async function* wholeRows(data: readonly Uint8Array[], rowBytes: number): AsyncGenerator<Uint8Array> {
  const shared = new Uint8Array(rowBytes);
  let filled = 0;
  for await (const chunk of inflated(data)) {
    const begin = filled === 0 ? 0 : Math.min(rowBytes - filled, chunk.length);
    shared.set(chunk.subarray(0, begin), filled);
    filled += begin;
    if (filled > 0 && filled < rowBytes) continue;
    if (filled > 0) yield shared;
    const end = chunk.length - ((chunk.length - begin) % rowBytes);
    if (end > begin) yield chunk.subarray(begin, end);
    shared.set(chunk.subarray(end));
    filled = chunk.length - end;
  }
}

function isZero(bytes: Uint8Array, from: number, end: number, step: number): boolean {
  for (let at = from; at < end; at += step) if (bytes[at] !== 0) return false;
  return true;
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

/**
 * The samples of a PNG, a row at a time: deflate needs 32 KB, so the largest picture takes hardly more memory than its
 * file. A filter changes each byte of a pixel by the same byte of its neighbours alone, so each wanted sample has rows
 * of its own, and the others stay filtered.
 */
import { Readable, pipeline } from 'node:stream';
import { createInflate } from 'node:zlib';
import type { Size } from './shrink.ts';

export interface SampleForm extends Size {
  readonly depth: number;
  /** Of each pixel, in the file. */
  readonly samples: number;
  /** The positions of the wanted samples in a pixel. */
  readonly wanted: readonly number[];
}

/**
 * A row of each wanted sample, valid until the next ones: behind a zero, a byte for each pixel. Of 16 bits it is the
 * first eight. Below eight bits, the bytes are those of the file, with several samples in each.
 */
export async function* samplesIn(
  data: readonly Uint8Array[],
  { width, height, depth, samples, wanted }: SampleForm,
): AsyncGenerator<readonly Uint8Array[]> {
  // One byte before each row names its filter.
  const rowBytes = 1 + Math.ceil((width * samples * depth) / 8);
  const step = Math.max(1, (samples * depth) >> 3);
  const count = (rowBytes - 1) / step;
  // The zero stands for the neighbour of the first pixel.
  const empty = (): Uint8Array[] => wanted.map(() => new Uint8Array(1 + count));
  let [above, row] = [empty(), empty()];
  const zeros = Buffer.alloc(rowBytes - 1);
  let done = 0;
  for await (const bytes of wholeRows(data, rowBytes)) {
    for (let at = 0; at < bytes.length && done < height; at += rowBytes, done += 1) {
      const filter = bytes[at] ?? 0;
      // Without a difference, Up and Paeth repeat the row above, as in most of a mask.
      const isSame = (filter === 2 || filter === 4) && zeros.equals(bytes.subarray(at + 1, at + rowBytes));
      if (!isSame) {
        for (const [index, sample] of wanted.entries()) {
          const [to, from] = [row[index], above[index]];
          const first = at + 1 + Math.floor((sample * depth) / 8);
          if (to && from) unfilter(filter, bytes, first, step, to, from);
        }
        [above, row] = [row, above];
      }
      yield above;
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

function inflated(data: readonly Uint8Array[]): AsyncIterable<Uint8Array> {
  const inflate = createInflate({ chunkSize: 1 << 18 });
  // Who reads the parts sees every error.
  pipeline(Readable.from(data, { objectMode: true }), inflate, () => undefined);
  return inflate;
}

function isZero(bytes: Uint8Array, from: number, step: number, count: number): boolean {
  for (let x = 0, at = from; x < count; x++, at += step) if (bytes[at] !== 0) return false;
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
  // As above, for one sample: most of the opacities of a picture.
  if ((filter === 2 || filter === 4) && isZero(bytes, from, step, row.length - 1)) row.set(above);
  else if (filter === 0) for (let x = 1; x < row.length; x++, at += step) row[x] = bytes[at] ?? 0;
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

/**
 * Paeth: of the three neighbours the one that is nearest to left + up - corner. Without branches, which a processor
 * guesses wrongly in the noise of a picture.
 */
function nearest(left: number, up: number, corner: number): number {
  const toUp = up - corner;
  const toLeft = left - corner;
  const a = Math.abs(toUp);
  const b = Math.abs(toLeft);
  const c = Math.abs(toUp + toLeft);
  // -1 where the first is less than the second, else 0.
  const isCorner = (c - b) >> 31;
  const other = up + ((corner - up) & isCorner);
  const isOther = (b + ((c - b) & isCorner) - a) >> 31;
  return left + ((other - left) & isOther);
}

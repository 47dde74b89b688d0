/**
 * What a mask protects of a source image, for the check of a picture and for the sandbox. Bundled as a file
 * of its own, which only a request with a mask loads.
 *
 * If a mask has transparent pixels (opacity below 128), these pixels may change. If a mask is opaque
 * everywhere, its white pixels may change (the mean of their colours is 128 or more).
 */
import type { MaskedPicture, MaskedSource } from '../../creations/measures.ts';
import { readImageHeader } from '../../values/image-bytes.ts';
import { decode } from '../thumbnails/decode.ts';
import { pngRows } from '../thumbnails/png.ts';
import { fitting, type Pixels, type Rows, shrink, type Size } from '../thumbnails/shrink.ts';
import { writePng } from '../../vendors/write-png.ts';
import { pngOpacities } from './png-opacities.ts';
import type { PixelLimits } from './transparency.ts';

/** The longest side in which pictures are compared: a picture of 4K would need 400 MB. */
const mostCompared = 1024;
const seeThroughBelow = 128;
/** Of the three colours together. */
const whiteFrom = 3 * 128;

/**
 * The mean difference of what is protected, over its pixels and their three colours, from 0 to 255. Pictures of the
 * same size are compared in it, but for the limit above. Those of two sizes are compared in half of the smaller one:
 * between the pixels of two grids even a perfect copy differs. 0 when nothing is protected.
 * @throws when an image is of no kind that is read, broken, too large for the memory, or too late
 */
export async function changeWhereProtected(
  { picture, source, mask }: MaskedPicture,
  limits: PixelLimits,
): Promise<number> {
  const size = comparedSize(sizeOf(picture), sizeOf(source));
  const before = await inSize(source, size, limits);
  const after = await inSize(picture, size, limits);
  const mayChange = await touched(mask, size, 'changeable', limits);
  let [sum, count] = [0, 0];
  for (let i = 0; i < mayChange.length; i++) {
    if (mayChange[i] === 1) continue;
    count += 3;
    for (let at = i * 4; at < i * 4 + 3; at++)
      sum += Math.abs((before.data[at] ?? 0) - (after.data[at] ?? 0));
  }
  return count === 0 ? 0 : sum / count;
}

/** The source image in another size, as RGBA: opaque where any of it is protected. Throws as above. */
export async function protectedPixels(
  { source, mask }: MaskedSource,
  size: Size,
  limits: PixelLimits,
): Promise<Uint8Array> {
  const smaller = smallerOf(sizeOf(source), size);
  const shrunk = await inSize(source, smaller, limits);
  const isKept = await touched(mask, smaller, 'protected', limits);
  for (let i = 0; i < isKept.length; i++) shrunk.data[i * 4 + 3] = isKept[i] === 1 ? 0 : 255;
  const { data } = grown(shrunk, size);
  for (let at = 3; at < data.length; at += 4) data[at] = data[at] === 255 ? 0 : 255;
  return Uint8Array.from(data);
}

/** The mask itself when it has see-through pixels. Else a PNG in which what is white is see-through. Throws as above. */
export async function seeThroughMask(mask: Uint8Array, signal: AbortSignal): Promise<Uint8Array> {
  const size = sizeOf(mask);
  for await (const row of pngOpacities(mask, size) ?? []) {
    signal.throwIfAborted();
    if (row.some((opacity) => opacity < seeThroughBelow)) return mask;
  }
  return writePng({ ...size, samples: 4 }, () => whiteOpened(pngRows(mask, size).rows, signal));
}

async function* whiteOpened(rows: Rows['rows'], signal: AbortSignal): AsyncGenerator<Uint8Array> {
  for await (const row of rows) {
    signal.throwIfAborted();
    const opened = Uint8Array.from(row);
    for (let at = 0; at < opened.length; at += 4) opened[at + 3] = isWhite(row, at) ? 0 : 255;
    yield opened;
  }
}

function isWhite(row: ArrayLike<number>, at: number): boolean {
  return (row[at] ?? 0) + (row[at + 1] ?? 0) + (row[at + 2] ?? 0) >= whiteFrom;
}

function sizeOf(bytes: Uint8Array): Size {
  const header = readImageHeader(bytes);
  if (!header) throw new Error('no picture');
  return header;
}

function smallerOf(one: Size, other: Size): Size {
  return { width: Math.min(one.width, other.width), height: Math.min(one.height, other.height) };
}

function comparedSize(one: Size, other: Size): Size {
  if (one.width === other.width && one.height === other.height) return fitting(one, mostCompared);
  const { width, height } = smallerOf(one, other);
  return fitting({ width, height }, Math.min(mostCompared, Math.max(width, height)) / 2);
}

async function inSize(bytes: Uint8Array, to: Size, { signal, mostBytes }: PixelLimits): Promise<Pixels> {
  const { width, height } = sizeOf(bytes);
  const side = Math.ceil(Math.max(width, height) * Math.max(to.width / width, to.height / height));
  return shrink(await decode(bytes, { side, mostBytes }), to, signal);
}

/**
 * Marks each pixel of the small size that a pixel of the mask touches which may change, or which is protected. Both
 * readings of the mask are kept, by its opacities and by its colours, until it is known which one holds.
 */
async function touched(
  mask: Uint8Array,
  to: Size,
  by: 'changeable' | 'protected',
  { signal }: PixelLimits,
): Promise<Uint8Array> {
  const { rows, width, height } = pngRows(mask, sizeOf(mask));
  const [across, down] = [touchedBy(width, to.width), touchedBy(height, to.height)];
  const wanted = by === 'changeable';
  const [byOpacity, byColour] = [new Uint8Array(to.width * to.height), new Uint8Array(to.width * to.height)];
  let [y, isSeeThrough] = [0, false];
  for await (const row of rows) {
    signal.throwIfAborted();
    const lines = [down.first[y] ?? 0, down.last[y] ?? 0];
    const pixels = new Uint32Array(row.buffer, row.byteOffset, width);
    for (let x = 0, end; x < width; x = end) {
      // Most neighbours in a mask are equal.
      for (end = x + 1; end < width && pixels[end] === pixels[x];) end += 1;
      const isOpen = (row[x * 4 + 3] ?? 0) < seeThroughBelow;
      if (isOpen) isSeeThrough = true;
      const [left, right] = [across.first[x] ?? 0, 1 + (across.last[end - 1] ?? 0)];
      for (const line of lines) {
        const at = line * to.width;
        if (isOpen === wanted) byOpacity.fill(1, at + left, at + right);
        if (isWhite(row, x * 4) === wanted) byColour.fill(1, at + left, at + right);
      }
    }
    y += 1;
  }
  if (y !== height) throw new Error('rows are missing');
  return isSeeThrough ? byOpacity : byColour;
}

/** For each old pixel the first and the last new pixel that it touches: at most two, as no picture grows. */
function touchedBy(from: number, to: number): { readonly first: Int32Array; readonly last: Int32Array } {
  const [first, last] = [new Int32Array(from), new Int32Array(from)];
  for (let i = 0; i < from; i++) {
    first[i] = Math.floor((i * to) / from);
    last[i] = Math.min(Math.ceil(((i + 1) * to) / from) - 1, to - 1);
  }
  return { first, last };
}

/** The box filter of shrink.ts in the other direction: a pixel lies in one pixel of the small picture, or in two. */
function grown(from: Pixels, to: Size): Pixels {
  const [across, down] = [placesOf(from.width, to.width), placesOf(from.height, to.height)];
  const data = new Uint8ClampedArray(to.width * to.height * 4);
  let at = 0;
  for (const [top, bottom, upper] of down)
    for (const [left, right, lefter] of across)
      for (let c = 0; c < 4; c++) {
        const of = (x: number, y: number): number => from.data[(y * from.width + x) * 4 + c] ?? 0;
        const above = of(left, top) * lefter + of(right, top) * (1 - lefter);
        const below = of(left, bottom) * lefter + of(right, bottom) * (1 - lefter);
        data[at++] = above * upper + below * (1 - upper);
      }
  return { ...to, data };
}

/** For each new pixel the old pixels in which it begins and ends, and the share of the first. */
function placesOf(from: number, to: number): [first: number, last: number, share: number][] {
  return Array.from({ length: to }, (_, i) => {
    const [start, end] = [(i * from) / to, ((i + 1) * from) / to];
    const first = Math.floor(start);
    const last = Math.min(Math.ceil(end) - 1, from - 1);
    return [first, last, last > first ? (first + 1 - start) / (end - start) : 1];
  });
}

/** What counts as a transparent picture, in every kind of file that has opacities. */
import createEncoder from '@jsquash/webp/codec/enc/webp_enc_simd.js';
import { defaultOptions } from '@jsquash/webp/meta.js';
import { encode } from 'jpeg-js';
import { describe, expect, it } from 'vitest';
import { isTransparent } from '../../service/render/pixels/transparency.ts';
import { codecsOf } from '../../service/render/thumbnails/wasm.ts';
import { chunk, png, size } from './png-writer.ts';

const { width, height } = size;
const pixels = width * height;
const enough = Math.ceil(pixels / 100);
const limits = { signal: new AbortController().signal, mostBytes: 40_000_000 };

/** Opacities of which so many are below 128, all over the picture. */
function opacitiesWith(seeThrough: number): number[] {
  const all = Array.from({ length: pixels }, (_, i) => 128 + ((i * 7) % 128));
  for (let i = 0; i < seeThrough; i++) all[(i * 97) % pixels] = i % 128;
  return all;
}

const rowsBy = (samples: (opacity: number, x: number, y: number) => readonly number[], all: number[]) =>
  Array.from({ length: height }, (_, y) =>
    Array.from({ length: width }, (__, x) => samples(all[y * width + x] ?? 255, x, y)).flat(),
  );

type Write = (opacities: number[]) => Uint8Array | Promise<Uint8Array>;

const webp = async (opacities: number[], options: object): Promise<Uint8Array> => {
  const data = Uint8Array.from(opacities.flatMap((opacity, i) => [i % 251, i % 17, 90, opacity]));
  const encoder = await codecsOf(createEncoder, '@jsquash/webp/codec/enc/webp_enc_simd.wasm')();
  const bytes = encoder.encode(data, width, height, { ...defaultOptions, exact: 1, ...options });
  if (!bytes) throw new Error('not encoded');
  return bytes;
};

const kinds: Readonly<Record<string, Write>> = {
  'a PNG of RGBA': (all) =>
    png({ depth: 8, colour: 6, rows: rowsBy((a, x, y) => [x, y, (x * y) & 255, a], all) }),
  'a PNG of RGBA with 16 bits': (all) =>
    png({ depth: 16, colour: 6, rows: rowsBy((a, x, y) => [x, 1, y, 2, 9, 3, a, 4], all) }),
  'a PNG of grey with opacities': (all) => png({ depth: 8, colour: 4, rows: rowsBy((a, x) => [x, a], all) }),
  'a PNG of grey with opacities of 16 bits': (all) =>
    png({ depth: 16, colour: 4, rows: rowsBy((a, x) => [x, 1, a, 255], all) }),
  'a PNG with a palette': (all) =>
    png({
      depth: 8,
      colour: 3,
      rows: rowsBy((a) => [a < 128 ? 1 : 0], all),
      chunks: [chunk('PLTE', Uint8Array.of(1, 2, 3, 4, 5, 6)), chunk('tRNS', Uint8Array.of(255, 127))],
    }),
  'a lossless WebP': (all) => webp(all, { lossless: 1 }),
  'a lossy WebP with opacities as they are': (all) => webp(all, { alpha_compression: 0 }),
  'a lossy WebP with packed opacities': (all) => webp(all, { alpha_compression: 1, alpha_filtering: 0 }),
  'a lossy WebP with filtered opacities': (all) => webp(all, { alpha_compression: 1, alpha_filtering: 2 }),
};

describe.each(Object.entries(kinds))('%s', (_name, write) => {
  it('It is transparent when 1 % of its pixels have an opacity below 128', async () => {
    expect(await isTransparent(await write(opacitiesWith(enough)), limits)).toBe(true);
  });

  it('It is opaque when one pixel less has', async () => {
    expect(await isTransparent(await write(opacitiesWith(enough - 1)), limits)).toBe(false);
  });
});

/** A PNG of this size with one opacity for all pixels but the first of one row. */
function withRow(shape: typeof size, row: number, seeThrough: number): Buffer {
  const rows = Array.from({ length: shape.height }, (_, y) =>
    Array.from({ length: shape.width }, (__, x) => [x, y, 9, y === row && x < seeThrough ? 127 : 255]).flat(),
  );
  return png({ depth: 8, colour: 6, rows, size: shape });
}

describe('a PNG whose rows have one opacity', () => {
  it.each([1, 2, 3, 4, 5, 6, 7])('1 % of see-through pixels is found in row %i', async (row) => {
    expect(await isTransparent(withRow(size, row, enough), limits)).toBe(true);
    expect(await isTransparent(withRow(size, row, enough - 1), limits)).toBe(false);
  });

  it('A row that Sub or Average writes without a difference is not taken for the row above', async () => {
    const fill = (opacity: number): number[] => Array.from({ length: width }, () => opacity);
    // Each is the mean of its left neighbour and of 128 above.
    const halves: number[] = [];
    for (let x = 0; x < width; x++) halves.push(((halves[x - 1] ?? 0) + 128) >> 1);
    for (const opacities of [
      [fill(255), fill(0)],
      [fill(255), fill(255), fill(128), halves],
    ]) {
      const shape = { width, height: opacities.length };
      const rows = opacities.map((row, y) => row.flatMap((opacity, x) => [x, y, 9, opacity]));
      expect(await isTransparent(png({ depth: 8, colour: 6, rows, size: shape }), limits)).toBe(true);
    }
  });

  it.each([
    { width: 1_000, height: 100, what: 'rows lie in two parts of what is inflated' },
    { width: 140_000, height: 2, what: 'a row is longer than two parts' },
  ])('It is read where $what', async ({ width: across, height: down }) => {
    const [shape, least] = [{ width: across, height: down }, (across * down) / 100];
    for (const row of [0, down - 1]) {
      expect(await isTransparent(withRow(shape, row, least), limits)).toBe(true);
      expect(await isTransparent(withRow(shape, row, least - 1), limits)).toBe(false);
    }
  });
});

describe('a file without opacities', () => {
  it.each<[string, Write]>([
    ['a PNG of RGB', () => png({ depth: 8, colour: 2, rows: rowsBy(() => [1, 2, 3], []) })],
    [
      'a WebP',
      () =>
        webp(
          Array.from({ length: pixels }, () => 255),
          {},
        ),
    ],
    [
      'a lossless WebP',
      () =>
        webp(
          Array.from({ length: pixels }, () => 255),
          { lossless: 1 },
        ),
    ],
    ['a JPEG', () => encode({ width, height, data: Buffer.alloc(pixels * 4) }, 50).data],
  ])('%s is opaque', async (_name, write) => {
    expect(await isTransparent(await write([]), limits)).toBe(false);
  });
});

describe('a picture that cannot be read', () => {
  const whole = png({ depth: 8, colour: 6, rows: rowsBy((a) => [1, 2, 3, a], opacitiesWith(0)) });
  it.each<[string, Uint8Array, RegExp]>([
    ['no picture', Uint8Array.of(1, 2, 3), /no picture/],
    ['a PNG that is cut off', whole.subarray(0, whole.length / 2), /./],
    [
      'an interlaced PNG',
      png({ depth: 8, colour: 6, rows: rowsBy((a) => [1, 2, 3, a], opacitiesWith(0)), interlace: 1 }),
      /not read/,
    ],
    [
      'a PNG with fewer rows than its header says',
      png({ depth: 8, colour: 6, rows: rowsBy((a) => [1, 2, 3, a], opacitiesWith(0)).slice(1) }),
      /rows are missing/,
    ],
  ])('%s is an error', async (_name, bytes, error) => {
    await expect(isTransparent(bytes, limits)).rejects.toThrow(error);
  });

  it('One that takes more memory than there is is an error', async () => {
    const bytes = await kinds['a lossless WebP']?.(opacitiesWith(enough));
    await expect(isTransparent(bytes ?? Buffer.alloc(0), { ...limits, mostBytes: 1_000 })).rejects.toThrow(
      /too large/,
    );
  });

  it('One that takes too long is an error', async () => {
    await expect(isTransparent(whole, { ...limits, signal: AbortSignal.abort() })).rejects.toThrow(/abort/);
  });
});

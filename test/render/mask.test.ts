/** What a mask protects, and how much of it a picture changes, in every kind of file. */
import createEncoder from '@jsquash/webp/codec/enc/webp_enc_simd.js';
import { defaultOptions } from '@jsquash/webp/meta.js';
import { encode } from 'jpeg-js';
import { describe, expect, it } from 'vitest';
import { changeWhereProtected, protectedPixels, seeThroughMask } from '../../service/render/pixels/mask.ts';
import { pngRows } from '../../service/render/thumbnails/png.ts';
import { codecsOf } from '../../service/render/thumbnails/wasm.ts';
import { readImageHeader } from '../../service/values/image-bytes.ts';
import { chunk, png, size as usualSize } from './png-writer.ts';

const limits = { signal: new AbortController().signal, mostBytes: 40_000_000 };

interface Size {
  readonly width: number;
  readonly height: number;
}
type Samples = (x: number, y: number) => readonly number[];

const rowsBy = (samples: Samples, { width, height }: Size): number[][] =>
  Array.from({ length: height }, (_, y) => Array.from({ length: width }, (__, x) => samples(x, y)).flat());
const rgb = (samples: Samples, size: Size = usualSize): Buffer =>
  png({ depth: 8, colour: 2, rows: rowsBy(samples, size), size });

/** The right half may change. */
const half = usualSize.width / 2;
const isRight = (x: number): boolean => x >= half;
const grey =
  (left: number, right = left): Samples =>
  (x) => {
    const value = isRight(x) ? right : left;
    return [value, value, value];
  };
const source = rgb(grey(100));

const masks: Readonly<Record<string, Uint8Array>> = {
  'opacities: 127 may change, and 128 is protected': png({
    depth: 8,
    colour: 6,
    rows: rowsBy((x) => [255, 255, 255, isRight(x) ? 127 : 128], usualSize),
  }),
  'grey with opacities': png({
    depth: 8,
    colour: 4,
    rows: rowsBy((x) => [0, isRight(x) ? 0 : 255], usualSize),
  }),
  'a palette with a see-through colour': png({
    depth: 8,
    colour: 3,
    rows: rowsBy((x) => [isRight(x) ? 1 : 0], usualSize),
    chunks: [chunk('PLTE', Uint8Array.of(1, 2, 3, 4, 5, 6)), chunk('tRNS', Uint8Array.of(255, 127))],
  }),
  'grey: 128 may change, and 127 is protected': png({
    depth: 8,
    colour: 0,
    rows: rowsBy((x) => [isRight(x) ? 128 : 127], usualSize),
  }),
  'one bit for each pixel': png({
    depth: 1,
    colour: 0,
    rows: Array.from({ length: usualSize.height }, () =>
      Array.from({ length: usualSize.width / 8 }, (_, i) => (i * 8 >= half ? 255 : 0)),
    ),
  }),
  'black and white with opacities of which each is opaque': png({
    depth: 8,
    colour: 6,
    rows: rowsBy((x) => [...grey(0, 255)(x, 0), 255], usualSize),
  }),
};
const mask = masks['grey: 128 may change, and 127 is protected'] ?? Buffer.alloc(0);

describe.each(Object.entries(masks))('a mask of %s', (_name, one) => {
  it('lets the picture change where it says so, and nowhere else', async () => {
    const change = (picture: Uint8Array): Promise<number> =>
      changeWhereProtected({ picture, source, mask: one }, limits);
    expect([await change(rgb(grey(100, 250))), await change(rgb(grey(110, 100)))]).toEqual([0, 10]);
  });
});

describe('the change of what is protected', () => {
  it('is the mean over the pixels and their three colours', async () => {
    // Of the 80 columns that are protected, the first 20 differ by 12 in green alone.
    const picture = rgb((x, y) => [100, x < 20 ? 112 : 100, isRight(x) ? y : 100]);
    expect(await changeWhereProtected({ picture, source, mask }, limits)).toBe(1);
  });

  it('counts what is see-through as white', async () => {
    const clear = png({ depth: 8, colour: 6, rows: rowsBy(() => [100, 100, 100, 0], usualSize) });
    expect(await changeWhereProtected({ picture: clear, source, mask }, limits)).toBe(155);
  });

  it('is nothing when nothing is protected', async () => {
    const all = rgb(grey(255));
    expect(await changeWhereProtected({ picture: rgb(grey(9)), source, mask: all }, limits)).toBe(0);
  });

  it('is small for a JPEG and a WebP of the same picture, and large for those of another', async () => {
    const encoder = await codecsOf(createEncoder, '@jsquash/webp/codec/enc/webp_enc_simd.wasm')();
    const { width, height } = usualSize;
    const data = (value: number): Uint8Array =>
      new Uint8Array(width * height * 4).fill(255).map((byte, i) => (i % 4 === 3 ? byte : value));
    const files = (value: number): Uint8Array[] => [
      encode({ width, height, data: data(value) }, 90).data,
      encoder.encode(data(value), width, height, defaultOptions) ?? Buffer.alloc(0),
    ];
    for (const [value, from, to] of [
      [100, 0, 2],
      [160, 58, 62],
    ] as const)
      for (const picture of files(value)) {
        const changes = [
          await changeWhereProtected({ picture, source, mask }, limits),
          await changeWhereProtected({ picture: source, source: picture, mask }, limits),
        ];
        for (const change of changes) {
          expect(change).toBeGreaterThanOrEqual(from);
          expect(change).toBeLessThanOrEqual(to);
        }
      }
  });

  it.each<
    [string, string, (images: { picture: Uint8Array; source: Uint8Array; mask: Uint8Array }) => object]
  >([
    ['picture', 'is cut off', ({ picture }) => ({ picture: picture.subarray(0, picture.length / 2) })],
    ['source', 'is no picture', () => ({ source: Uint8Array.of(1, 2, 3) })],
    ['mask', 'is cut off', ({ mask: one }) => ({ mask: one.subarray(0, one.length / 2) })],
  ])('cannot be told when the %s %s', async (_image, _what, change) => {
    const images = { picture: source, source, mask };
    await expect(changeWhereProtected({ ...images, ...change(images) }, limits)).rejects.toThrow(/./);
  });

  it('ends when it takes too long', async () => {
    const late = { ...limits, signal: AbortSignal.abort() };
    await expect(changeWhereProtected({ picture: source, source, mask }, late)).rejects.toThrow(/abort/);
  });
});

describe('a picture of another size than its source image', () => {
  // Grain from one pixel to the next, stronger than that of photographs: compared in full size, it would be a change.
  const noise: Samples = (x, y) => [0, 1, 2].map((c) => 96 + (((x * 73 + y * 151 + c * 37) * 7919) % 40));
  const large = rgb(noise);
  const striped = png({ depth: 8, colour: 0, rows: rowsBy((x) => [isRight(x) ? 255 : 0], usualSize) });

  it.each([
    { width: 208, height: 124 },
    { width: 320, height: 192 },
    { width: 80, height: 48 },
    { width: 96, height: 60 },
  ])('has not changed when the sandbox brought what is protected to $width x $height', async (size) => {
    const kept = await protectedPixels({ source: large, mask: striped }, size, limits);
    const at = (x: number, y: number, c: number): number => kept[(y * size.width + x) * 4 + c] ?? 0;
    const painted = (value: number): Buffer =>
      rgb((x, y) => [0, 1, 2].map((c) => (at(x, y, 3) === 255 ? at(x, y, c) : value)), size);
    const change = (picture: Uint8Array): Promise<number> =>
      changeWhereProtected({ picture, source: large, mask: striped }, limits);
    const [kept1, other] = [await change(painted(9)), await change(rgb(() => [9, 9, 9], size))];
    expect(kept1).toBeLessThan(2);
    expect(other).toBeGreaterThan(50);
    // The left half is protected, and the right one is not.
    expect([at(0, 0, 3), at(size.width / 2 - 1, size.height - 1, 3), at(size.width - 1, 0, 3)]).toEqual([
      255, 255, 0,
    ]);
  });

  it('is the source image itself in its own size', async () => {
    const kept = await protectedPixels({ source: large, mask: striped }, usualSize, limits);
    for (const [x, y] of [
      [0, 0],
      [half - 1, 95],
      [17, 40],
    ] as const)
      expect([...kept.subarray((y * usualSize.width + x) * 4, (y * usualSize.width + x) * 4 + 4)]).toEqual([
        ...noise(x, y),
        255,
      ]);
    expect(kept[half * 4 + 3]).toBe(0);
  });
});

describe('a mask as vendors read it', () => {
  const { signal } = limits;
  /** The opacities of the left and of the right half of the first row. */
  async function opacitiesOf(mask: Uint8Array): Promise<unknown> {
    for await (const row of pngRows(mask, usualSize).rows)
      return [row[3], row[half * 4 - 1], row[half * 4 + 3], row[usualSize.width * 4 - 1]];
    return undefined;
  }

  it('Of one that is black and white, what is white becomes see-through', async () => {
    for (const mask of [
      rgb(grey(0, 255)),
      rgb(grey(127, 128)),
      png({
        depth: 8,
        colour: 6,
        rows: rowsBy((x) => (isRight(x) ? [255, 255, 0, 128] : [255, 0, 0, 128]), usualSize),
      }),
      png({ depth: 16, colour: 0, rows: rowsBy((x) => [isRight(x) ? 255 : 0, 7], usualSize) }),
    ]) {
      const sent = await seeThroughMask(mask, signal);
      expect(readImageHeader(sent)).toEqual({ contentType: 'image/png', ...usualSize });
      expect(await opacitiesOf(sent)).toEqual([255, 255, 0, 0]);
      expect(sent[25]).toBe(6);
    }
  });

  it.each(Object.entries(masks).filter(([name]) => /^(opacities|grey with|a palette)/.test(name)))(
    'One with see-through pixels stays as it is: %s',
    async (_name, mask) => {
      expect(await seeThroughMask(mask, signal)).toBe(mask);
    },
  );

  it('It protects the same', async () => {
    for (const mask of Object.values(masks)) {
      const sent = await seeThroughMask(mask, signal);
      const picture = rgb(grey(100, 250));
      const change = await changeWhereProtected({ picture, source, mask: sent }, limits);
      expect(change).toBe(await changeWhereProtected({ picture, source, mask }, limits));
    }
  });

  it('One that is broken is an error', async () => {
    const broken = rgb(grey(0, 255)).subarray(0, 120);
    await expect(seeThroughMask(broken, signal)).rejects.toThrow();
    await expect(seeThroughMask(Uint8Array.of(1), signal)).rejects.toThrow('no picture');
  });
});

/** The codec of the thumbnails: every kind of picture gives a right form, or none. */
import { deflateSync } from 'node:zlib';
import { decode, encode } from 'jpeg-js';
import { describe, expect, it } from 'vitest';
import { makeThumbnails } from '../../service/render/thumbnails/make.ts';
import { nineColours, otherKinds, readKinds } from './small-pictures.ts';

const limits = { signal: new AbortController().signal, mostBytes: 40_000_000 };
const [width, height] = [160, 96];

/** The nine fields, as numbers from 0 to 255. */
const fields = nineColours.map((colour) => [...Buffer.from(colour, 'hex')]);
const fieldAt = (x: number, y: number, size = { width, height }): number =>
  Math.floor((y * 3) / size.height) * 3 + Math.floor((x * 3) / size.width);

const uint32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};
const chunk = (type: string, data: Uint8Array): Buffer =>
  Buffer.concat([uint32(data.length), Buffer.from(type), data, Buffer.alloc(4)]);

interface Png {
  readonly depth: number;
  readonly colour: number;
  readonly rows: readonly (readonly number[])[];
  readonly chunks?: readonly Buffer[];
  readonly size?: { readonly width: number; readonly height: number };
  readonly interlace?: number;
  /** The rows with their filters, in the place of `rows`. */
  readonly whole?: Buffer;
}

/** The filter of each row is the next one, so all five are used. */
function png({
  depth,
  colour,
  rows,
  chunks = [],
  size = { width, height },
  interlace = 0,
  whole,
}: Png): Buffer {
  const step = Math.max(1, (({ 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 }[colour] ?? 1) * depth) / 8);
  const filtered = rows.flatMap((row, y) => {
    const above = rows[y - 1] ?? [];
    const at = (line: readonly number[], i: number): number => line[i] ?? 0;
    const predicted = row.map((_, i) => {
      const [a, b, c] = [at(row, i - step), at(above, i), at(above, i - step)];
      const p = a + b - c;
      const [pa, pb, pc] = [Math.abs(p - a), Math.abs(p - b), Math.abs(p - c)];
      return [0, a, b, (a + b) >> 1, pa <= pb && pa <= pc ? a : pb <= pc ? b : c][y % 5] ?? 0;
    });
    return [y % 5, ...row.map((value, i) => (value - (predicted[i] ?? 0)) & 255)];
  });
  const packed = deflateSync(whole ?? Buffer.from(filtered));
  const header = [...uint32(size.width), ...uint32(size.height), depth, colour, 0, 0, interlace];
  return Buffer.concat([
    Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]),
    chunk('IHDR', Uint8Array.from(header)),
    ...chunks,
    chunk('IDAT', packed.subarray(0, 20)),
    chunk('IDAT', packed.subarray(20)),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

const rowsOf = (samples: (field: number) => readonly number[], depth = 8): number[][] =>
  Array.from({ length: height }, (_, y) => {
    const values = Array.from({ length: width }, (__, x) => samples(fieldAt(x, y))).flat();
    if (depth >= 8) return values;
    return Array.from({ length: (width * depth) / 8 }, (__, i) =>
      values
        .slice((i * 8) / depth, ((i + 1) * 8) / depth)
        .reduce((byte, value) => (byte << depth) | value, 0),
    );
  });
const palette = chunk('PLTE', Uint8Array.from(fields.flat()));
const bits = (field: number): number => field % 2;
const grey = (value: number): string => Buffer.from([value, value, value]).toString('hex');

/** A kind of PNG with the nine colours that it has. */
const pngs: Readonly<Record<string, readonly [Png, readonly string[]]>> = {
  RGB: [{ depth: 8, colour: 2, rows: rowsOf((f) => fields[f] ?? []) }, nineColours],
  'RGB of 16 bits': [
    { depth: 16, colour: 2, rows: rowsOf((f) => (fields[f] ?? []).flatMap((value) => [value, 77])) },
    nineColours,
  ],
  'RGBA, half of it transparent': [
    { depth: 8, colour: 6, rows: rowsOf((f) => [...(fields[f] ?? []), f % 2 === 0 ? 255 : 0]) },
    nineColours.map((colour, f) => (f % 2 === 0 ? colour : 'ffffff')),
  ],
  'a palette': [{ depth: 8, colour: 3, rows: rowsOf((f) => [f]), chunks: [palette] }, nineColours],
  'a palette of 4 bits with a transparent colour': [
    { depth: 4, colour: 3, rows: rowsOf((f) => [f], 4), chunks: [palette, chunk('tRNS', Uint8Array.of(0))] },
    nineColours.with(0, 'ffffff'),
  ],
  grey: [{ depth: 8, colour: 0, rows: rowsOf((f) => [f * 20]) }, fields.map((_, f) => grey(f * 20))],
  'grey of 16 bits': [
    { depth: 16, colour: 0, rows: rowsOf((f) => [f * 20, 99]) },
    fields.map((_, f) => grey(f * 20)),
  ],
  'black and white': [
    { depth: 1, colour: 0, rows: rowsOf((f) => [bits(f)], 1) },
    fields.map((_, f) => grey(bits(f) * 255)),
  ],
  'grey of 2 bits': [
    { depth: 2, colour: 0, rows: rowsOf((f) => [f % 4], 2) },
    fields.map((_, f) => grey((f % 4) * 85)),
  ],
  'grey with opacity': [
    { depth: 8, colour: 4, rows: rowsOf((f) => [f * 20, f === 4 ? 0 : 255]) },
    fields.map((_, f) => (f === 4 ? 'ffffff' : grey(f * 20))),
  ],
};

const levels = (colours: string): number[] => [...Buffer.from(colours, 'hex')];
/** How far the two differ in the worst of the 27 values. */
const distance = (one: string, other: string): number =>
  Math.max(...levels(one).map((value, i) => Math.abs(value - (levels(other)[i] ?? 999))));

/** The colours in the middle of the nine fields of an encoded form. */
function middlesOf(bytes: Uint8Array): string {
  const { data, ...size } = decode(bytes);
  return Array.from({ length: 9 }, (_, f) => {
    const [x, y] = [
      Math.floor((((f % 3) * 2 + 1) * size.width) / 6),
      Math.floor(((Math.floor(f / 3) * 2 + 1) * size.height) / 6),
    ];
    return Buffer.from(data.subarray((y * size.width + x) * 4, (y * size.width + x) * 4 + 3)).toString('hex');
  }).join('');
}

describe('the thumbnails of a picture', () => {
  it.each(Object.entries(pngs))('A PNG with %s gives its colours', async (_, [picture, colours]) => {
    const made = await makeThumbnails(png(picture), limits);
    expect(made.large).toMatchObject({ width: 160, height: 96 });
    expect(made.small).toMatchObject({ width: 96, height: 58 });
    // Fields end within a pixel of the nine.
    expect(distance(made.colours, colours.join(''))).toBeLessThan(8);
    expect(distance(middlesOf(made.large.bytes), colours.join(''))).toBeLessThan(16);
    expect(distance(middlesOf(made.small.bytes), colours.join(''))).toBeLessThan(16);
  });

  it.each(Object.entries(readKinds))('A %s gives its colours', async (_, base64) => {
    const made = await makeThumbnails(Buffer.from(base64, 'base64'), limits);
    expect(made.large).toMatchObject({ width: 160, height: 96 });
    expect(distance(made.colours, nineColours.join(''))).toBeLessThan(16);
    expect(distance(middlesOf(made.large.bytes), nineColours.join(''))).toBeLessThan(24);
  });

  it.each([
    [1024, 512],
    [512, 2048],
    [4096, 480],
  ])(
    'A picture of %i by %i is decoded at a part of its size, and its longest side has 480 and 96 pixels',
    async (wide, high) => {
      const size = { width: wide, height: high };
      const data = Buffer.alloc(wide * high * 4);
      for (let y = 0, p = 0; y < high; y++)
        for (let x = 0; x < wide; x++, p += 4) data.set(fields[fieldAt(x, y, size)] ?? [], p);
      const made = await makeThumbnails(encode({ data, ...size }, 80).data, limits);
      const scale = 480 / Math.max(wide, high);
      expect(made.large).toMatchObject({ width: wide * scale, height: Math.round(high * scale) });
      expect(Math.max(made.small.width, made.small.height)).toBe(96);
      expect(distance(middlesOf(made.large.bytes), nineColours.join(''))).toBeLessThan(16);
    },
  );

  it('Also noise fits: 25 large forms are at most 300 KB', async () => {
    const size = { width: 600, height: 600 };
    let seed = 1;
    const rows = Array.from({ length: 600 }, () =>
      Array.from({ length: 1800 }, () => (seed = (seed * 48_271) % 2_147_483_647) & 255),
    );
    const { small, large } = await makeThumbnails(png({ depth: 8, colour: 2, rows, size }), limits);
    expect(large.bytes.length).toBeLessThanOrEqual(12_000);
    expect(small.bytes.length).toBeLessThanOrEqual(3_000);
    expect(decode(large.bytes)).toMatchObject({ width: 480, height: 480 });
  });
});

const plain = png({ depth: 8, colour: 2, rows: rowsOf((f) => fields[f] ?? []) });
const readable = {
  PNG: plain,
  ...Object.fromEntries(Object.entries(readKinds).map(([name, text]) => [name, Buffer.from(text, 'base64')])),
};

describe('a picture that gives no thumbnails', () => {
  const inFrame = (bytes: Buffer, change: (frame: Buffer) => void): Buffer => {
    const copy = Buffer.from(bytes);
    change(copy.subarray(copy.indexOf(Buffer.from([0xff, 0xc2])) + 2));
    return copy;
  };
  const progressive = Buffer.from(readKinds['progressive JPEG'] ?? '', 'base64');
  it.each<[string, Buffer, object]>([
    ...Object.entries(otherKinds).map(([name, text]): [string, Buffer, object] => [
      name,
      Buffer.from(text, 'base64'),
      {},
    ]),
    ['an interlaced PNG', png({ depth: 8, colour: 2, rows: [[0]], interlace: 1 }), {}],
    ['a PNG with a depth that its colours cannot have', png({ depth: 4, colour: 2, rows: [[0]] }), {}],
    [
      'a PNG that is larger than 8K',
      png({
        ...{ depth: 1, colour: 0, rows: [], size: { width: 8_000, height: 6_000 } },
        whole: Buffer.alloc(6_000 * 1_001),
      }),
      {},
    ],
    ['a PNG of two pixels', png({ depth: 8, colour: 0, rows: [[1, 2]], size: { width: 2, height: 1 } }), {}],
    [
      'a WebP for which there is no memory',
      Buffer.from(readKinds['WebP'] ?? '', 'base64'),
      { mostBytes: 100_000 },
    ],
    ['a progressive JPEG for which there is no memory', progressive, { mostBytes: 10_000 }],
    [
      'a progressive JPEG that says it is 6,000 by 6,000',
      inFrame(progressive, (frame) => frame.set([0x17, 0x70, 0x17, 0x70], 3)),
      {},
    ],
    [
      'a JPEG whose data ends too early',
      Buffer.concat([progressive.subarray(0, progressive.length - 120), Buffer.from([0xff, 0xd9])]),
      {},
    ],
    ['no picture', Buffer.from('a lake'), {}],
    ['a picture that is too late', plain, { signal: AbortSignal.abort() }],
  ])('%s', async (_, bytes, change) => {
    await expect(makeThumbnails(bytes, { ...limits, ...change })).rejects.toThrow(Error);
  });

  it.each(Object.entries(readable))('A %s that is cut off at any place gives none', async (_, bytes) => {
    // The last bytes of a file may be only its end.
    for (let cut = 1; cut < bytes.length - 40; cut += Math.ceil(bytes.length / 40))
      await expect(makeThumbnails(bytes.subarray(0, cut), limits)).rejects.toThrow(Error);
  });

  it.each(Object.entries(readable))(
    'A %s with wrong bytes gives forms or an error, and nothing worse',
    async (_, bytes) => {
      for (let seed = 1; seed <= 60; seed++) {
        const hostile = Buffer.from(bytes);
        for (let place = 0; place < 3; place++)
          hostile[(seed * 7_919 + place * 104_729) % bytes.length] = (seed * 37) & 255;
        const end = await makeThumbnails(hostile, limits).catch((error: unknown) => error);
        if (!(end instanceof Error)) expect(end).toHaveProperty('colours');
      }
    },
  );
});

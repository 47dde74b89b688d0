/** The codec of the thumbnails: every kind of picture gives a right form, or none. */
import { encode } from 'jpeg-js';
import { describe, expect, it, vi } from 'vitest';
import { decodeJpeg } from '../../service/render/thumbnails/jpeg.ts';
import { makeThumbnails } from '../../service/render/thumbnails/make.ts';
import type { Pixels } from '../../service/render/thumbnails/shrink.ts';
import { decodeWebp } from '../../service/render/thumbnails/webp.ts';
import { chunk, type Png, png, size as shape } from './png-writer.ts';
import { nineColours, otherKinds, readKinds } from './small-pictures.ts';

const limits = { signal: new AbortController().signal, mostBytes: 40_000_000 };
const { width, height } = shape;

/** The nine fields, as numbers from 0 to 255. */
const fields = nineColours.map((colour) => [...Buffer.from(colour, 'hex')]);
const fieldAt = (x: number, y: number, size = { width, height }): number =>
  Math.floor((y * 3) / size.height) * 3 + Math.floor((x * 3) / size.width);

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

const decode = (form: Uint8Array): Promise<Pixels> =>
  decodeWebp(form, { width: 480, height: 480 }, limits.mostBytes);

/** The colours in the middle of the nine fields of an encoded form. */
async function middlesOf(form: Uint8Array): Promise<string> {
  const { data, ...size } = await decode(form);
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
    expect(distance(await middlesOf(made.large.bytes), colours.join(''))).toBeLessThan(16);
    expect(distance(await middlesOf(made.small.bytes), colours.join(''))).toBeLessThan(16);
  });

  it.each(Object.entries(readKinds))('A %s gives its colours', async (_, base64) => {
    const made = await makeThumbnails(Buffer.from(base64, 'base64'), limits);
    expect(made.large).toMatchObject({ width: 160, height: 96 });
    expect(distance(made.colours, nineColours.join(''))).toBeLessThan(16);
    expect(distance(await middlesOf(made.large.bytes), nineColours.join(''))).toBeLessThan(24);
  });

  it.each([
    [1024, 512, 512, 256],
    [512, 2048, 128, 512],
    [4096, 480, 512, 60],
    [1001, 777, 501, 389],
  ])('A JPEG of %i by %i is decoded as %i by %i, and its forms have 480 and 96', async (...sizes) => {
    const [wide, high, decodedWide, decodedHigh] = sizes;
    const size = { width: wide, height: high };
    const data = Buffer.alloc(wide * high * 4);
    for (let y = 0, p = 0; y < high; y++)
      for (let x = 0; x < wide; x++, p += 4) data.set(fields[fieldAt(x, y, size)] ?? [], p);
    const bytes = encode({ data, ...size }, 80).data;
    const decoded = await decodeJpeg(bytes, { side: 480, mostBytes: 0 });
    expect(decoded).toMatchObject({ width: decodedWide, height: decodedHigh });
    const made = await makeThumbnails(bytes, limits);
    const scale = 480 / Math.max(wide, high);
    expect(made.large).toMatchObject({ width: wide * scale, height: Math.round(high * scale) });
    expect(Math.max(made.small.width, made.small.height)).toBe(96);
    expect(distance(await middlesOf(made.large.bytes), nineColours.join(''))).toBeLessThan(16);
  });

  it.each([
    ['noise', 1, 255, 1_000],
    ['a picture with many fields', 16, 127, 9_000],
  ])('The large form of %s has as many bytes as it may: 25 have 300 KB', async (_, edge, most, least) => {
    const size = { width: 600, height: 600 };
    let seed = 1;
    const noise = Array.from({ length: 1800 * 600 }, () => (seed = (seed * 48_271) % 2_147_483_647) & most);
    const field = (x: number, y: number): number => Math.floor(y / edge) * 600 + Math.floor(x / edge);
    const rows = Array.from({ length: 600 }, (_row, y) =>
      Array.from({ length: 1800 }, (_level, i) => noise[field(Math.floor(i / 3), y) * 3 + (i % 3)] ?? 0),
    );
    const { small, large } = await makeThumbnails(png({ depth: 8, colour: 2, rows, size }), limits);
    expect(large.bytes.length).toBeLessThanOrEqual(12_000);
    expect(large.bytes.length).toBeGreaterThan(least);
    expect(small.bytes.length).toBeLessThanOrEqual(3_000);
    expect(await decode(large.bytes)).toMatchObject({ width: 480, height: 480 });
  });

  it('Each JPEG and each WebP has a decoder of its own, whose code is compiled once', async () => {
    const pictures = ['progressive JPEG', 'WebP'].map((kind) => Buffer.from(readKinds[kind] ?? '', 'base64'));
    const makeAll = () => Promise.all(pictures.map((bytes) => makeThumbnails(bytes, limits)));
    await makeAll();
    const [instance, compile] = [vi.spyOn(WebAssembly, 'Instance'), vi.spyOn(WebAssembly, 'compile')];
    await makeAll();
    await makeAll();
    expect([instance.mock.calls.length, compile.mock.calls.length]).toEqual([4, 0]);
    vi.restoreAllMocks();
  });
});

const plain = png({ depth: 8, colour: 2, rows: rowsOf((f) => fields[f] ?? []) });
const readable = {
  PNG: plain,
  ...Object.fromEntries(Object.entries(readKinds).map(([name, text]) => [name, Buffer.from(text, 'base64')])),
};

const progressive = Buffer.from(readKinds['progressive JPEG'] ?? '', 'base64');
const baseline = Buffer.from(readKinds['JPEG with colours of half the size'] ?? '', 'base64');
/** The marker at the end of a JPEG. */
const end = Buffer.from([0xff, 0xd9]);
/** The JPEG with these bytes in the segment of EXIF. */
const withPreview = (bytes: Buffer, preview: Buffer): Buffer =>
  Buffer.concat([
    ...[bytes.subarray(0, 2), Buffer.from([0xff, 0xe1, 0, preview.length + 2]), preview],
    bytes.subarray(2),
  ]);

/** Colours of eight bits, in rows of so many bytes. */
const plainRows = (bytes: number) => ({
  depth: 8,
  colour: 2,
  rows: Array.from({ length: shape.height }, () => Array<number>(bytes).fill(0)),
});

describe('a picture that gives no thumbnails', () => {
  it.each<[string, Buffer, object]>([
    ...Object.entries(otherKinds).map(([name, text]): [string, Buffer, object] => [
      name,
      Buffer.from(text, 'base64'),
      {},
    ]),
    ['an interlaced PNG', png({ ...plainRows(480), interlace: 1 }), {}],
    ['a PNG with a depth that its colours cannot have', png({ ...plainRows(240), depth: 4 }), {}],
    ['a PNG with kinds of colours that PNG lacks', png({ ...plainRows(160), colour: 1 }), {}],
    [
      'a PNG with a transparent colour and no palette',
      png({ ...plainRows(480), chunks: [chunk('tRNS', Buffer.alloc(6))] }),
      {},
    ],
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
    ['a JPEG whose data ends too early', Buffer.concat([progressive.subarray(0, -120), end]), {}],
    ['no picture', Buffer.from('a lake'), {}],
    ['a picture that is too late', plain, { signal: AbortSignal.abort() }],
  ])('%s', async (_, bytes, change) => {
    await expect(makeThumbnails(bytes, { ...limits, ...change })).rejects.toThrow(Error);
  });

  const scanIn = (bytes: Buffer): number => bytes.indexOf(Buffer.from([0xff, 0xda]));
  const afterFrame = (bytes: Buffer, at: number, ...change: number[]): Buffer => {
    const copy = Buffer.from(bytes);
    copy.set(change, copy.indexOf(Buffer.from([0xff, 0xc2])) + at);
    return copy;
  };
  const [first, second] = [scanIn(progressive), scanIn(progressive.subarray(scanIn(progressive) + 2))];
  const restarting = Buffer.from(readKinds['progressive JPEG with restarts'] ?? '', 'base64');
  const lastScan = restarting.subarray(restarting.lastIndexOf(Buffer.from([0xff, 0xda])), -2);
  it.each([
    ['a progressive JPEG', progressive],
    ['a progressive JPEG that says it is 6,000 by 6,000', afterFrame(progressive, 5, 23, 112, 23, 112)],
    ['a progressive JPEG with one scan', Buffer.concat([progressive.subarray(0, first + 2 + second), end])],
    [
      'a JPEG whose first scan has one of its three colours',
      Buffer.concat([
        ...[baseline.subarray(0, scanIn(baseline)), Buffer.from([0xff, 0xda, 0, 8, 1])],
        ...[baseline.subarray(scanIn(baseline) + 5, scanIn(baseline) + 7)],
        baseline.subarray(scanIn(baseline) + 11),
      ]),
    ],
    ['a progressive JPEG with a preview', withPreview(progressive, end)],
  ])('%s, when its coefficients are too much for the memory', async (_, bytes) => {
    await expect(makeThumbnails(bytes, { ...limits, mostBytes: 46_079 })).rejects.toThrow('memory');
  });

  it.each([
    ['4:4:4', 6, 0x11],
    ['4:2:2', 4, 0x21],
    ['4:2:0', 3, 0x22],
    ['4:4:0', 4, 0x12],
    ['4:1:1', 3, 0x41],
  ])('The coefficients of a pixel of %s take %i bytes', async (_, bytesPerPixel, sampling) => {
    const bytes = afterFrame(progressive, 11, sampling);
    const reasonWith = async (mostBytes: number): Promise<string> =>
      makeThumbnails(bytes, { ...limits, mostBytes }).then(String, String);
    const needed = width * height * bytesPerPixel;
    expect(await reasonWith(needed - 1)).toContain('memory');
    expect(await reasonWith(needed)).not.toContain('memory');
  });

  it('A JPEG with more scans than an encoder writes gives none', async () => {
    const scans = Array.from({ length: 45 }, (_, i) => [Buffer.alloc(i % 2, 0xff), lastScan]).flat();
    const bytes = Buffer.concat([restarting.subarray(0, -2), ...scans, end]);
    await expect(makeThumbnails(bytes, limits)).rejects.toThrow('scans');
  });

  it('The scans of a preview are not those of the picture', async () => {
    const scans = Buffer.from(Array.from({ length: 60 }, () => [0xff, 0xda, 0, 2]).flat());
    expect(await makeThumbnails(withPreview(baseline, scans), limits)).toHaveProperty('colours');
  });

  it('A JPEG in one pass needs no memory for coefficients, and a progressive one has what it needs', async () => {
    expect(await makeThumbnails(baseline, { ...limits, mostBytes: 0 })).toHaveProperty('colours');
    expect(await makeThumbnails(progressive, { ...limits, mostBytes: 46_080 })).toHaveProperty('colours');
  });

  it.each(Object.entries(readable))('A %s that is cut off at any byte gives none', async (_, bytes) => {
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
        const made = await makeThumbnails(hostile, limits).catch((error: unknown) => error);
        if (!(made instanceof Error)) expect(made).toHaveProperty('colours');
      }
    },
  );
});

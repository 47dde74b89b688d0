import { inflateSync } from 'node:zlib';
import { decode } from 'jpeg-js';
import { describe, expect, it } from 'vitest';
import { readImageHeader } from '../../service/values/image-bytes.ts';
import { diceFor, fractal, noiseFrom } from '../../service/vendors/sandbox/picture/noise.ts';
import { paletteNames } from '../../service/vendors/sandbox/picture/colour.ts';
import { type PictureJob, renderPicture } from '../../service/vendors/sandbox/picture/picture.ts';
import { themeOf } from '../../service/vendors/sandbox/picture/theme.ts';

const oneOfEach = [
  'misty mountains',
  'mountain lake',
  'a forest',
  'desert dunes',
  'the sea',
  'aurora',
  'silk',
  'paper map',
  'bauhaus tiles',
];

const job = (change: Partial<PictureJob> = {}): PictureJob => ({
  prompt: 'a fox in the snow',
  seed: 7,
  width: 96,
  height: 64,
  format: 'png',
  ...change,
});

interface Chunk {
  readonly type: string;
  readonly data: Buffer;
}

function chunksOf(png: Buffer): Chunk[] {
  const chunks: Chunk[] = [];
  for (let at = 8; at < png.length;) {
    const length = png.readUInt32BE(at);
    chunks.push({
      type: png.toString('latin1', at + 4, at + 8),
      data: png.subarray(at + 8, at + 8 + length),
    });
    at += length + 12;
  }
  return chunks;
}

const dataOf = (png: Buffer, type: string) =>
  Buffer.concat(
    chunksOf(png)
      .filter((chunk) => chunk.type === type)
      .map(({ data }) => data),
  );

/** Undoes the row filter "up", the only one that the writer uses. */
function pixelsOf(png: Buffer, width: number): Buffer[] {
  const packed = inflateSync(dataOf(png, 'IDAT'));
  const stride = width * 3;
  const rows: Buffer[] = [];
  for (let at = 0; at < packed.length; at += stride + 1) {
    const above = rows.at(-1);
    rows.push(
      Buffer.from(packed.subarray(at + 1, at + 1 + stride).map((byte, i) => byte + (above?.[i] ?? 0))),
    );
  }
  return rows;
}

/** The data of the first JPEG segment with that marker. */
function segmentOf(jpeg: Buffer, marker: number): Buffer {
  let at = 2;
  while (jpeg[at + 1] !== marker) at += 2 + jpeg.readUInt16BE(at + 2);
  return jpeg.subarray(at + 4, at + 2 + jpeg.readUInt16BE(at + 2));
}

/** Levels by which a decoded JPEG (4 bytes a pixel) and PNG rows (3) differ, over a sample of the pixels. */
function meanDifference(jpeg: Uint8Array, rows: Buffer[]): number {
  let [sum, count] = [0, 0];
  for (const [y, row] of rows.entries()) {
    for (let x = y % 7; x < row.length / 3; x += 7) {
      sum += Math.abs((jpeg[(y * (row.length / 3) + x) * 4] ?? 0) - (row[x * 3] ?? 0));
      count++;
    }
  }
  return sum / count;
}

describe('A picture of the sandbox', () => {
  it.each(['png', 'jpeg'] as const)('A %s has the same bytes for the same job', async (format) => {
    expect(await renderPicture(job({ format }))).toEqual(await renderPicture(job({ format })));
  });

  it('Another prompt or another seed gives another picture', async () => {
    const jobs = [job(), job({ prompt: 'a fox in the snow.' }), job({ seed: 8 })];
    const pixels = await Promise.all(
      jobs.map(async (one) => dataOf(await renderPicture(one), 'IDAT').toString('base64')),
    );
    expect(new Set(pixels).size).toBe(3);
  });

  it.each(oneOfEach)('A picture of "%s" has the requested size in every shape', async (prompt) => {
    for (const [width, height] of [
      [64, 64],
      [112, 48],
      [36, 64],
      [1, 1],
    ] as const) {
      for (const format of ['png', 'jpeg'] as const) {
        const header = readImageHeader(await renderPicture(job({ prompt, width, height, format })));
        expect(header).toEqual({ contentType: `image/${format}`, width, height });
      }
    }
  });

  it.each(oneOfEach)('A picture of "%s" has light and dark parts and no empty row', async (prompt) => {
    const rows = pixelsOf(await renderPicture(job({ prompt })), 96);
    expect(rows).toHaveLength(64);
    const levels = Buffer.concat(rows);
    expect(Math.max(...levels) - Math.min(...levels)).toBeGreaterThan(80);
    for (const row of rows) expect(row.some((level) => level > 0)).toBe(true);
  });

  it('Timers run while a picture is rendered', async () => {
    let beats = 0;
    const heart = setInterval(() => beats++, 1);
    // A JPEG of one strip, so that the timer can run only in the painter's own pauses.
    await renderPicture(job({ width: 1024, height: 1024, prompt: 'bauhaus tiles', format: 'jpeg' }));
    clearInterval(heart);
    expect(beats).toBeGreaterThan(1);
  });
});

describe('The prompt in the file of a picture', () => {
  const prompts = ['a fox', 'лисица в снегу', '雪の中の狐 🦊', 'زوروں', 'two\nlines', 'x'.repeat(10_000)];

  it.each(prompts)('The prompt is the description of a PNG: %.20s', async (prompt) => {
    const png = await renderPicture(job({ prompt, width: 8, height: 8 }));
    expect(dataOf(png, 'iTXt').toString('utf8')).toBe(`Description\0\0\0\0\0${prompt}`);
    expect(dataOf(png, 'tEXt').toString('latin1')).toBe('Software\0Darkroom sandbox');
  });

  it.each(prompts)('The prompt is the comment of a JPEG: %.20s', async (prompt) => {
    const jpeg = await renderPicture(job({ prompt, width: 8, height: 8, format: 'jpeg' }));
    expect(segmentOf(jpeg, 0xfe).toString('utf8')).toBe(prompt);
  });

  it('A prompt that is too long for a JPEG comment is cut between two characters', async () => {
    // The limit of 65,533 bytes lies in the middle of a fox character.
    const prompt = `xyz${'🦊'.repeat(20_000)}`;
    const comment = segmentOf(
      await renderPicture(job({ prompt, width: 8, height: 8, format: 'jpeg' })),
      0xfe,
    ).toString('utf8');
    expect(comment).toBe(`xyz${'🦊'.repeat(16_382)}`);
  });

  it('A NUL or half a character in the prompt does not break the text of a PNG', async () => {
    const png = await renderPicture(job({ prompt: 'a\0b\uD83E', width: 8, height: 8 }));
    expect(dataOf(png, 'iTXt').toString('utf8')).toBe('Description\0\0\0\0\0a\uFFFDb\uFFFD');
  });
});

describe('A JPEG of several strips', () => {
  const size = { width: 2048, height: 1100, prompt: 'bauhaus tiles' };

  it('The JPEG numbers its restart markers in turn, ends once, and shows the same as the PNG', async () => {
    const jpeg = await renderPicture(job({ ...size, format: 'jpeg' }));
    const markers = Array.from(jpeg.entries()).filter(
      ([at, byte]) => byte === 0xff && ((jpeg[at + 1] ?? 0) & 0xf8) === 0xd0,
    );
    expect(markers.map(([at]) => jpeg[at + 1])).toEqual([0xd0, 0xd1]);
    // 512 rows of 2048: 64 lines of 256 blocks.
    expect(segmentOf(jpeg, 0xdd).readUInt16BE()).toBe(64 * 256);
    expect(jpeg.indexOf(Buffer.from([0xff, 0xd9]))).toBe(jpeg.length - 2);
    const rows = pixelsOf(await renderPicture(job(size)), size.width);
    expect(meanDifference(decode(jpeg, { useTArray: true }).data, rows)).toBeLessThan(3);
  });
});

describe('A draft', () => {
  it('has 16 shades of each colour at most, and its PNG has less than half of the bytes', async () => {
    const asked = job({ prompt: 'alpine valley', width: 256, height: 256 });
    const [usual, draft] = [await renderPicture(asked), await renderPicture({ ...asked, isDraft: true })];
    const samplesOf = (png: Buffer) => new Set(Buffer.concat(pixelsOf(png, 256)));
    expect(samplesOf(usual).size).toBeGreaterThan(60);
    expect(samplesOf(draft).size).toBeLessThanOrEqual(16);
    expect(draft.length).toBeLessThan(usual.length / 2);
    const jpeg = await renderPicture({ ...asked, format: 'jpeg', isDraft: true });
    expect(jpeg).not.toEqual(await renderPicture({ ...asked, format: 'jpeg' }));
  });
});

describe('The theme of a picture', () => {
  const themeFor = (prompt: string, seed = 1) => themeOf(prompt, diceFor(prompt, seed, 'theme'));

  it.each([
    ['Desert at noon', 'dunes'],
    ['waves on the OCEAN', 'sea'],
    ['an owl in a pine forest', 'forest'],
    ['northern lights', 'aurora'],
    ['alpine valley', 'mountains'],
    ['the ocean in layered paper', 'paper-cut'],
  ])('The motif of "%s" is %s', (prompt, motif) => {
    expect(themeFor(prompt).motif).toBe(motif);
  });

  it('Words for colours choose the palette, whatever the motif is', () => {
    expect(themeFor('forest in winter')).toEqual({ motif: 'forest', palette: 'glacier' });
    expect(themeFor('dragons, ink drawing')).toEqual({ motif: 'mountains', palette: 'ink' });
  });

  it('Known words of the negative prompt keep their motifs and palettes away', () => {
    const without = (prompt: string, negative: string, seed: number) =>
      themeOf(prompt, diceFor(prompt, seed, 'theme'), negative);
    for (let seed = 0; seed < 100; seed += 1) {
      expect(without('alpine valley', 'mountains', seed).motif).not.toBe('mountains');
      expect(without('xyzzy', 'no boats, please', seed).motif).not.toBe('sea');
      expect(without('forest in winter', 'snow', seed).palette).not.toBe('glacier');
      // Northern lights need the palette of a night.
      if (without('xyzzy', 'monochrome', seed).motif !== 'aurora')
        expect(without('xyzzy', 'monochrome', seed).palette).not.toBe('ink');
      expect(without('waves', 'xyzzy', seed)).toEqual(themeFor('waves', seed));
    }
  });

  it('Without such words the dice choose, and they reach every motif and palette', () => {
    const themes = Array.from({ length: 600 }, (_, seed) => themeFor('xyzzy', seed));
    expect(new Set(themes.map(({ motif }) => motif)).size).toBe(8);
    expect(new Set(themes.map(({ palette }) => palette)).size).toBe(paletteNames.length);
  });
});

it('The mean of the noise is near zero', () => {
  const noise = noiseFrom(diceFor('a fox in the snow', 7, 'sky'));
  const points = Array.from({ length: 2_500 }, (_, i) =>
    fractal(noise, (i % 50) * 0.37, Math.floor(i / 50) * 0.37, 4),
  );
  expect(Math.abs(points.reduce((sum, one) => sum + one, 0) / points.length)).toBeLessThan(0.15);
});

/**
 * Writes a baseline JPEG (4:2:0) of at most so many bytes. The frequencies are computed once, and each quality takes
 * only their rounding and their codes. jpeg-js, which the sandbox uses, takes six times as long.
 */
import type { Pixels } from './shrink.ts';
import { waves, zigzag } from './blocks.ts';

/** The best one that fits is taken. The last one is taken in any case. */
const qualities = [80, 65, 52, 42, 34, 26, 18, 10, 5];

/** ITU T.81, annex K: the tables of quantization for the quality 50, and the codes, of luminance and of colour. */
const quantums = [
  [
    ...[
      16, 11, 10, 16, 24, 40, 51, 61, 12, 12, 14, 19, 26, 58, 60, 55, 14, 13, 16, 24, 40, 57, 69, 56, 14, 17,
    ],
    ...[
      22, 29, 51, 87, 80, 62, 18, 22, 37, 56, 68, 109, 103, 77, 24, 35, 55, 64, 81, 104, 113, 92, 49, 64, 78,
    ],
    ...[87, 103, 121, 120, 101, 72, 92, 95, 98, 112, 100, 103, 99],
  ],
  [
    ...[
      17, 18, 24, 47, 99, 99, 99, 99, 18, 21, 26, 66, 99, 99, 99, 99, 24, 26, 56, 99, 99, 99, 99, 99, 47, 66,
    ],
    ...[99, 99, 99, 99, 99, 99, ...Array<number>(32).fill(99)],
  ],
];
const dcCodes = [
  '00010501010101010100000000000000000102030405060708090a0b',
  '00030101010101010101010000000000000102030405060708090a0b',
];
const acCodes = [
  '0002010303020403050504040000017d01020300041105122131410613516107227114328191a1082342b1c11552d1f02433627282090a161718191a25262728292a3435363738393a434445464748494a535455565758595a636465666768696a737475767778797a838485868788898a92939495969798999aa2a3a4a5a6a7a8a9aab2b3b4b5b6b7b8b9bac2c3c4c5c6c7c8c9cad2d3d4d5d6d7d8d9dae1e2e3e4e5e6e7e8e9eaf1f2f3f4f5f6f7f8f9fa',
  '00020102040403040705040400010277000102031104052131061241510761711322328108144291a1b1c109233352f0156272d10a162434e125f11718191a262728292a35363738393a434445464748494a535455565758595a636465666768696a737475767778797a82838485868788898a92939495969798999aa2a3a4a5a6a7a8a9aab2b3b4b5b6b7b8b9bac2c3c4c5c6c7c8c9cad2d3d4d5d6d7d8d9dae2e3e4e5e6e7e8e9eaf2f3f4f5f6f7f8f9fa',
];

export function encodeJpeg(pixels: Pixels, mostBytes: number): Uint8Array {
  const planes = frequenciesOf(pixels);
  for (const quality of qualities) {
    const isLast = quality === qualities.at(-1);
    const bytes = encodedAt(quality, pixels, planes, isLast ? Infinity : mostBytes);
    if (bytes) return bytes;
  }
  throw new Error('no quality was tried');
}

/** The frequencies of a plane, 64 for each block, in the order of zigzag. */
interface Plane {
  readonly across: number;
  readonly values: Float32Array;
}

function frequenciesOf({ data, width, height }: Pixels): readonly [Plane, Plane, Plane] {
  const [unitsAcross, unitsDown] = [Math.ceil(width / 16), Math.ceil(height / 16)];
  const [wide, high] = [unitsAcross * 16, unitsDown * 16];
  const luminance = new Float32Array(wide * high);
  const [blue, red] = [new Float32Array((wide * high) / 4), new Float32Array((wide * high) / 4)];
  for (let y = 0; y < high; y++)
    for (let x = 0; x < wide; x++) {
      const p = (Math.min(y, height - 1) * width + Math.min(x, width - 1)) * 4;
      const r = data[p] ?? 0;
      const g = data[p + 1] ?? 0;
      const b = data[p + 2] ?? 0;
      luminance[y * wide + x] = 0.299 * r + 0.587 * g + 0.114 * b - 128;
      const half = (y >> 1) * (wide / 2) + (x >> 1);
      blue[half] = (blue[half] ?? 0) + (-0.168736 * r - 0.331264 * g + 0.5 * b) / 4;
      red[half] = (red[half] ?? 0) + (0.5 * r - 0.418688 * g - 0.081312 * b) / 4;
    }
  return [transformed(luminance, wide), transformed(blue, wide / 2), transformed(red, wide / 2)];
}

const wave = waves(8);

function transformed(samples: Float32Array, width: number): Plane {
  const across = width / 8;
  const values = new Float32Array(samples.length);
  const half = new Float32Array(64);
  for (let block = 0; block * 64 < samples.length; block++) {
    const start = Math.floor(block / across) * 8 * width + (block % across) * 8;
    for (let y = 0; y < 8; y++)
      for (let u = 0; u < 8; u++) {
        let sum = 0;
        for (let x = 0; x < 8; x++) sum += (samples[start + y * width + x] ?? 0) * (wave[x * 8 + u] ?? 0);
        half[y * 8 + u] = sum;
      }
    for (let k = 0; k < 64; k++) {
      const place = zigzag[k] ?? 0;
      const [u, v] = [place & 7, place >> 3];
      let sum = 0;
      for (let y = 0; y < 8; y++) sum += (half[y * 8 + u] ?? 0) * (wave[y * 8 + v] ?? 0);
      values[block * 64 + k] = sum;
    }
  }
  return { across, values };
}

/** Undefined: it would be larger. */
function encodedAt(
  quality: number,
  { width, height }: Pixels,
  planes: readonly [Plane, Plane, Plane],
  mostBytes: number,
): Uint8Array | undefined {
  const scale = quality < 50 ? 50 / quality : 2 - quality / 50;
  const tables = quantums.map((table) =>
    Uint8Array.from(zigzag, (place) => Math.max(1, Math.min(255, Math.round((table[place] ?? 1) * scale)))),
  );
  const head = header(width, height, tables);
  const writer = new BitWriter(mostBytes - head.length - 2);
  const readers = planes.map((plane, i) =>
    blockWriter(plane, tables[Math.min(i, 1)] ?? head, Math.min(i, 1), writer),
  );
  const [luminance, blue, red] = readers;
  const [{ across }, colour] = planes;
  const down = colour.values.length / 64 / colour.across;
  for (let y = 0; y < down; y++) {
    for (let x = 0; x < colour.across; x++) {
      const corner = y * 2 * across + x * 2;
      for (const block of [corner, corner + 1, corner + across, corner + across + 1]) luminance?.(block);
      blue?.(y * colour.across + x);
      red?.(y * colour.across + x);
    }
    if (writer.isFull()) return undefined;
  }
  return Buffer.concat([head, writer.end(), Uint8Array.of(0xff, 0xd9)]);
}

/** The code of each symbol, times 32, with its length (ITU T.81, C.2). */
type Codes = Int32Array;

function codesOf(table: string): Codes {
  const bytes = Buffer.from(table, 'hex');
  const codes = new Int32Array(256);
  let [code, place] = [0, 16];
  for (let length = 1; length <= 16; length++) {
    for (let i = 0; i < (bytes[length - 1] ?? 0); i++) codes[bytes[place++] ?? 0] = (code++ << 5) | length;
    code <<= 1;
  }
  return codes;
}

const [dc, ac, none] = [dcCodes.map(codesOf), acCodes.map(codesOf), new Int32Array(256)];

function blockWriter(
  { values }: Plane,
  table: Uint8Array,
  kind: number,
  writer: BitWriter,
): (block: number) => void {
  const [dcOf, acOf] = [dc[kind] ?? none, ac[kind] ?? none];
  const divided = Float32Array.from(table, (value) => 1 / value);
  let predicted = 0;
  return (block) => {
    const start = block * 64;
    const first = Math.round((values[start] ?? 0) * (divided[0] ?? 0));
    writer.coefficient(dcOf, 0, first - predicted);
    predicted = first;
    let zeros = 0;
    for (let k = 1; k < 64; k++) {
      const exact = (values[start + k] ?? 0) * (divided[k] ?? 0);
      if (exact < 0.5 && exact > -0.5) {
        zeros += 1;
        continue;
      }
      for (; zeros > 15; zeros -= 16) writer.symbol(acOf, 0xf0);
      writer.coefficient(acOf, zeros << 4, (exact < 0 ? exact - 0.5 : exact + 0.5) | 0);
      zeros = 0;
    }
    if (zeros > 0) writer.symbol(acOf, 0);
  };
}

class BitWriter {
  private bytes = new Uint8Array(1 << 14);
  private used = 0;
  private buffer = 0;
  private count = 0;
  private readonly mostBytes: number;

  constructor(mostBytes: number) {
    this.mostBytes = mostBytes;
  }

  isFull(): boolean {
    return this.used > this.mostBytes;
  }

  symbol(codes: Codes, symbol: number): void {
    const known = codes[symbol] ?? 0;
    this.write(known >> 5, known & 31);
  }

  /** The symbol says how many bits the value takes. A negative value is written as its complement. */
  coefficient(codes: Codes, run: number, value: number): void {
    const length = 32 - Math.clz32(Math.abs(value));
    this.symbol(codes, run | length);
    this.write(value < 0 ? value + (1 << length) - 1 : value, length);
  }

  private write(value: number, length: number): void {
    this.buffer = (this.buffer << length) | value;
    this.count += length;
    while (this.count >= 8) {
      this.count -= 8;
      this.byte((this.buffer >>> this.count) & 255);
    }
  }

  private byte(value: number): void {
    if (this.used + 2 > this.bytes.length) this.bytes = Buffer.concat([this.bytes, this.bytes]);
    this.bytes[this.used++] = value;
    // FF would begin a marker.
    if (value === 255) this.bytes[this.used++] = 0;
  }

  end(): Uint8Array {
    this.write(127, 7);
    return this.bytes.subarray(0, this.used);
  }
}

function header(width: number, height: number, tables: readonly Uint8Array[]): Uint8Array {
  const segment = (marker: number, ...parts: (Uint8Array | readonly number[])[]): Buffer => {
    const body = Buffer.concat(parts.map((part) => Uint8Array.from(part)));
    return Buffer.concat([Uint8Array.of(255, marker, (body.length + 2) >> 8, (body.length + 2) & 255), body]);
  };
  const hex = (text = ''): Uint8Array => Buffer.from(text, 'hex');
  const two = (value: number): number[] => [value >> 8, value & 255];
  return Buffer.concat([
    Uint8Array.of(255, 0xd8),
    segment(0xe0, Buffer.from('JFIF\0'), [1, 1, 0, 0, 1, 0, 1, 0, 0]),
    ...tables.map((table, i) => segment(0xdb, [i], table)),
    segment(0xc0, [8], two(height), two(width), [3, 1, 0x22, 0, 2, 0x11, 1, 3, 0x11, 1]),
    ...[0, 1].flatMap((i) => [segment(0xc4, [i], hex(dcCodes[i])), segment(0xc4, [16 + i], hex(acCodes[i]))]),
    segment(0xda, [3, 1, 0, 2, 0x11, 3, 0x11, 0, 63, 0]),
  ]);
}

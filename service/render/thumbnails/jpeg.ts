/**
 * JPEG, at an eighth, a quarter, a half or the whole of its size: a small picture needs only the low frequencies of
 * each block, so decoding it takes a fraction of the time and of the memory. Baseline and progressive files with one
 * or three components of 8 bits (ITU T.81). The file is long because a decoder is one algorithm.
 *
 * Like the width and the height that the service tells, the picture ignores the orientation in EXIF.
 */
import { bigEndian } from '../../values/text.ts';
import { waves, zigzag } from './blocks.ts';
import type { Rows, Size } from './shrink.ts';

export interface JpegLimits {
  /** The decoded picture has at least this many pixels on its longest side, if the file has them. */
  readonly side: number;
  /** What the coefficients of a progressive file may take. */
  readonly mostBytes: number;
}

interface Component extends Size {
  readonly id: number;
  readonly h: number;
  readonly v: number;
  readonly table: number;
  /** Blocks in a row, with those that only fill the last unit. */
  readonly across: number;
  readonly plane: Uint8ClampedArray;
  /** Of a progressive file. */
  readonly coefficients: Int16Array | undefined;
  /** Its first coefficients were read. */
  isRead: boolean;
  predicted: number;
}

interface Frame extends Size {
  readonly components: readonly Component[];
  readonly h: number;
  readonly v: number;
}

/** Pauses whenever it has worked for some milliseconds. @throws when the file is broken, cut off or of another kind */
export function* decodeJpeg(bytes: Uint8Array, limits: JpegLimits): Generator<void, Rows> {
  const quantums: (Float32Array | undefined)[] = [];
  const codes: { dc: (Code | undefined)[]; ac: (Code | undefined)[] } = { dc: [], ac: [] };
  let frame: Frame | undefined;
  let [interval, edge, transform] = [0, 8, -1];
  let at = 2;
  for (;;) {
    while (at < bytes.length && bytes[at] !== 0xff) at += 1;
    while (bytes[at] === 0xff) at += 1;
    const marker = bytes[at++];
    if (marker === undefined) throw new Error('a JPEG that is cut off');
    if (marker === 0xd9) break;
    if (marker === 0 || marker === 1 || (marker >= 0xd0 && marker <= 0xd8)) continue;
    const segment = bytes.subarray(at + 2, at + bigEndian(bytes, at, 2));
    at += Math.max(2, bigEndian(bytes, at, 2));
    if (marker === 0xdb) readQuantums(segment, quantums);
    else if (marker === 0xc4) readCodes(segment, codes);
    else if (marker === 0xdd) interval = bigEndian(segment, 0, 2);
    else if (marker === 0xee && String.fromCharCode(...segment.subarray(0, 5)) === 'Adobe')
      transform = segment[11] ?? -1;
    else if (marker >= 0xc0 && marker <= 0xc2) {
      if (frame) throw new Error('a JPEG with two frames');
      edge = edgeFor(segment, limits.side);
      frame = readFrame(segment, edge, marker === 0xc2 ? limits.mostBytes : undefined);
    } else if (marker > 0xc2 && marker < 0xd0 && marker !== 0xc8)
      throw new Error('a JPEG of a kind that is not read');
    else if (marker === 0xda) {
      if (!frame) throw new Error('a JPEG without a frame');
      const bits = new Bits(bytes, at);
      yield* readScan({ segment, frame, quantums, codes, interval, edge }, bits);
      at = bits.at;
    }
  }
  if (!frame?.components.every(({ isRead }) => isRead)) throw new Error('a JPEG without its picture');
  for (const component of frame.components) {
    const { coefficients, across } = component;
    const inverse = coefficients && inverseOf(quantums[component.table], edge);
    for (let block = 0; inverse && block * 64 < coefficients.length; block++) {
      inverse(
        coefficients.subarray(block * 64, block * 64 + 64),
        component.plane,
        placeOf(block, across, edge),
        across * edge,
      );
      if (block % across === 0) yield;
    }
  }
  const isRgb = transform === 0 || String.fromCharCode(...frame.components.map(({ id }) => id)) === 'RGB';
  return picture(frame, edge, isRgb);
}

function placeOf(block: number, across: number, edge: number): number {
  return Math.floor(block / across) * edge * across * edge + (block % across) * edge;
}

/** The edge of a decoded block: 1, 2, 4 or 8. */
function edgeFor(segment: Uint8Array, side: number): number {
  const longest = Math.max(bigEndian(segment, 1, 2), bigEndian(segment, 3, 2));
  return [1, 2, 4].find((edge) => (longest * edge) / 8 >= side) ?? 8;
}

function readFrame(segment: Uint8Array, edge: number, mostBytes: number | undefined): Frame {
  const [height, width, count = 0] = [bigEndian(segment, 1, 2), bigEndian(segment, 3, 2), segment[5]];
  const given = Array.from({ length: count }, (_, i) => segment.subarray(6 + i * 3, 9 + i * 3));
  const sides = given.map(([id = 0, sampling = 0, table = 0]) => ({
    id,
    h: sampling >> 4,
    v: sampling & 15,
    table,
  }));
  const isRead = sides.every(({ h, v, table }) => h >= 1 && h <= 4 && v >= 1 && v <= 4 && table < 4);
  if (segment[0] !== 8 || width === 0 || height === 0 || (count !== 1 && count !== 3) || !isRead)
    throw new Error('a JPEG of a kind that is not read');
  const [h, v] = [Math.max(...sides.map((side) => side.h)), Math.max(...sides.map((side) => side.v))];
  const [unitsAcross, unitsDown] = [Math.ceil(width / (8 * h)), Math.ceil(height / (8 * v))];
  const blocks = sides.reduce((sum, side) => sum + unitsAcross * unitsDown * side.h * side.v, 0);
  if (mostBytes !== undefined && blocks * 128 > mostBytes)
    throw new Error('a progressive JPEG that is too large');
  const components = sides.map((side) => {
    const [across, down] = [unitsAcross * side.h, unitsDown * side.v];
    return {
      ...side,
      width: Math.ceil(Math.ceil((width * side.h) / h) / 8),
      height: Math.ceil(Math.ceil((height * side.v) / v) / 8),
      across,
      plane: new Uint8ClampedArray(across * down * edge * edge),
      coefficients: mostBytes === undefined ? undefined : new Int16Array(across * down * 64),
      isRead: false,
      predicted: 0,
    };
  });
  return { width, height, components, h, v };
}

interface Scan {
  readonly segment: Uint8Array;
  readonly frame: Frame;
  readonly quantums: readonly (Float32Array | undefined)[];
  readonly codes: { readonly dc: readonly (Code | undefined)[]; readonly ac: readonly (Code | undefined)[] };
  readonly interval: number;
  readonly edge: number;
}

function* readScan({ segment, frame, quantums, codes, interval, edge }: Scan, bits: Bits): Generator<void> {
  const [count = 0] = segment;
  const [first = 0, last = 0, approximation = 0] = segment.subarray(1 + count * 2);
  const parts = Array.from({ length: count }, (_, i) => {
    const [id, tables = 0] = segment.subarray(1 + i * 2, 3 + i * 2);
    const component = frame.components.find((known) => known.id === id);
    if (!component) throw new Error('a JPEG with a scan of an unknown component');
    const read = component.coefficients
      ? progressive(
          codes.dc[tables >> 4],
          codes.ac[tables & 15],
          { first, last, high: approximation >> 4, low: approximation & 15 },
          bits,
        )
      : baseline(codes.dc[tables >> 4], codes.ac[tables & 15], bits);
    if (first === 0) component.isRead = true;
    const inverse = component.coefficients ? undefined : inverseOf(quantums[component.table], edge);
    return { component, read, inverse };
  });
  const [alone] = parts;
  if (!alone || last > 63 || first > last || (first > 0 && count > 1))
    throw new Error('a JPEG with a wrong scan');
  const scratch = new Int16Array(64);
  const step = ({ component, read, inverse }: typeof alone, row: number, column: number): void => {
    const block = row * component.across + column;
    const coefficients = component.coefficients?.subarray(block * 64, block * 64 + 64) ?? scratch.fill(0);
    read.block(coefficients, component);
    inverse?.(coefficients, component.plane, placeOf(block, component.across, edge), component.across * edge);
  };
  const [unitsAcross, unitsDown] =
    count === 1
      ? [alone.component.width, alone.component.height]
      : [Math.ceil(frame.width / (8 * frame.h)), Math.ceil(frame.height / (8 * frame.v))];
  const restart = (): void => {
    for (const { component, read } of parts) {
      component.predicted = 0;
      read.restart();
    }
  };
  restart();
  for (let unit = 0; unit < unitsAcross * unitsDown; unit++) {
    if (interval > 0 && unit > 0 && unit % interval === 0) {
      bits.restart();
      restart();
    }
    const [row, column] = [Math.floor(unit / unitsAcross), unit % unitsAcross];
    if (column === 0) yield;
    if (count === 1) step(alone, row, column);
    else
      for (const part of parts)
        for (let y = 0; y < part.component.v; y++)
          for (let x = 0; x < part.component.h; x++)
            step(part, row * part.component.v + y, column * part.component.h + x);
  }
}

/** Reads the blocks of one component in one scan. */
interface BlockReader {
  readonly block: (to: Int16Array, component: Component) => void;
  readonly restart: () => void;
}

function baseline(dc: Code | undefined, ac: Code | undefined, bits: Bits): BlockReader {
  if (!dc || !ac) throw new Error('a JPEG without a code');
  return {
    restart: () => undefined,
    block: (to, component) => {
      to[0] = component.predicted += bits.signed(bits.symbol(dc));
      for (let k = 1; k < 64; k++) {
        const symbol = bits.symbol(ac);
        const length = symbol & 15;
        if (length === 0 && symbol !== 0xf0) return;
        k += symbol >> 4;
        if (length > 0 && k > 63) throw new Error('a JPEG with too many coefficients');
        if (length > 0) to[zigzag[k] ?? 0] = bits.signed(length);
      }
    },
  };
}

interface Band {
  readonly first: number;
  readonly last: number;
  readonly high: number;
  readonly low: number;
}

/** Each scan brings a band of frequencies, or one more bit of it (ITU T.81, G). */
function progressive(dc: Code | undefined, ac: Code | undefined, band: Band, bits: Bits): BlockReader {
  const { first, last, high, low } = band;
  const bit = 1 << low;
  /** Blocks in a row that have no further coefficients. */
  let run = 0;
  const restart = (): void => void (run = 0);
  if (first === 0 && high > 0)
    return { restart, block: (to) => void (to[0] = (to[0] ?? 0) | (bits.read(1) << low)) };
  if (first === 0) {
    if (!dc) throw new Error('a JPEG without a code');
    return {
      restart,
      block: (to, component) => {
        component.predicted += bits.signed(bits.symbol(dc));
        to[0] = component.predicted << low;
      },
    };
  }
  if (!ac) throw new Error('a JPEG without a code');
  const runOf = (length: number): number => (1 << length) + bits.read(length);
  if (high === 0)
    return {
      restart,
      block: (to) => {
        if (run > 0) {
          run -= 1;
          return;
        }
        for (let k = first; k <= last; k++) {
          const symbol = bits.symbol(ac);
          const [skipped, length] = [symbol >> 4, symbol & 15];
          if (length === 0 && skipped < 15) {
            run = runOf(skipped) - 1;
            return;
          }
          k += skipped;
          if (length > 0 && k > last) throw new Error('a JPEG with too many coefficients');
          if (length > 0) to[zigzag[k] ?? 0] = bits.signed(length) << low;
        }
      },
    };
  const refine = (to: Int16Array, place: number): void => {
    const known = to[place] ?? 0;
    if (bits.read(1) === 1 && (known & bit) === 0) to[place] = known + (known > 0 ? bit : -bit);
  };
  return {
    restart,
    block: (to) => {
      let k = first;
      for (; run === 0 && k <= last; k++) {
        const symbol = bits.symbol(ac);
        let skipped = symbol >> 4;
        const isNew = (symbol & 15) > 0;
        if (!isNew && skipped < 15) {
          run = runOf(skipped);
          break;
        }
        const value = isNew ? (bits.read(1) === 1 ? bit : -bit) : 0;
        for (; k <= last; k++) {
          const place = zigzag[k] ?? 0;
          if (to[place] !== 0) refine(to, place);
          else if (skipped === 0) break;
          else skipped -= 1;
        }
        if (isNew && k <= last) to[zigzag[k] ?? 0] = value;
      }
      if (run === 0) return;
      for (; k <= last; k++) if (to[zigzag[k] ?? 0] !== 0) refine(to, zigzag[k] ?? 0);
      run -= 1;
    },
  };
}

function readQuantums(segment: Uint8Array, to: (Float32Array | undefined)[]): void {
  for (let at = 0; at < segment.length;) {
    const [wide, name] = [(segment[at] ?? 0) >> 4, (segment[at] ?? 0) & 15];
    const table = new Float32Array(64);
    for (let k = 0; k < 64; k++)
      table[zigzag[k] ?? 0] = wide ? bigEndian(segment, at + 1 + k * 2, 2) : (segment[at + 1 + k] ?? 0);
    to[name] = table;
    at += wide ? 129 : 65;
  }
}

/** A Huffman code. */
interface Code {
  /** By the next eight bits: the length of a code in the high byte, and its symbol. 0: the code is longer. */
  readonly short: Uint16Array;
  /** By the length: the first code that is longer, and what leads from a code to its place. */
  readonly ends: Int32Array;
  readonly offsets: Int32Array;
  readonly symbols: Uint8Array;
}

function readCodes(segment: Uint8Array, to: Record<'dc' | 'ac', (Code | undefined)[]>): void {
  for (let at = 0; at < segment.length;) {
    const name = segment[at] ?? 0;
    const lengths = segment.subarray(at + 1, at + 17);
    const count = lengths.reduce((sum, one) => sum + one, 0);
    to[name >> 4 === 0 ? 'dc' : 'ac'][name & 15] = codeOf(
      lengths,
      segment.subarray(at + 17, at + 17 + count),
    );
    at += 17 + count;
  }
}

function codeOf(lengths: Uint8Array, symbols: Uint8Array): Code {
  const short = new Uint16Array(256);
  const [ends, offsets] = [new Int32Array(17), new Int32Array(17)];
  let [code, place] = [0, 0];
  for (let length = 1; length <= 16; length++) {
    const count = lengths[length - 1] ?? 0;
    offsets[length] = place - code;
    if (length <= 8)
      for (let i = 0; i < count; i++) {
        const start = (code + i) << (8 - length);
        short.fill((length << 8) | (symbols[place + i] ?? 0), start, start + (1 << (8 - length)));
      }
    code += count;
    place += count;
    ends[length] = code;
    if (code > 1 << length) throw new Error('a JPEG with a wrong code');
    code <<= 1;
  }
  return { short, ends, offsets, symbols };
}

/** The bits of a scan. Reads beyond its end throw. */
class Bits {
  private readonly bytes: Uint8Array;
  /** The next byte that was not read ahead. */
  at: number;
  private buffer = 0;
  private count = 0;
  /** How many bits of the buffer stand behind the end of the data. */
  private missing = 0;

  constructor(bytes: Uint8Array, at: number) {
    this.bytes = bytes;
    this.at = at;
  }

  private fill(): void {
    while (this.count <= 24) {
      let byte = this.bytes[this.at] ?? -1;
      if (byte === 0xff && this.bytes[this.at + 1] !== 0) byte = -1;
      if (byte < 0) this.missing += 8;
      else this.at += byte === 0xff ? 2 : 1;
      this.buffer = (this.buffer << 8) | Math.max(0, byte);
      this.count += 8;
    }
  }

  private drop(length: number): void {
    this.count -= length;
    if (this.count < this.missing) throw new Error('a JPEG that is cut off');
  }

  /** Up to 16 bits. */
  read(length: number): number {
    if (length === 0) return 0;
    if (this.count < length) this.fill();
    const value = (this.buffer >>> (this.count - length)) & ((1 << length) - 1);
    this.drop(length);
    return value;
  }

  /** A number of this many bits: a first bit of 0 means that the number is negative (F.2.2.1). */
  signed(length: number): number {
    const value = this.read(length);
    return length > 0 && value < 1 << (length - 1) ? value - (1 << length) + 1 : value;
  }

  symbol({ short, ends, offsets, symbols }: Code): number {
    if (this.count < 16) this.fill();
    const known = short[(this.buffer >>> (this.count - 8)) & 255] ?? 0;
    if (known > 0) {
      this.drop(known >> 8);
      return known & 255;
    }
    const next = (this.buffer >>> (this.count - 16)) & 0xffff;
    for (let length = 9; length <= 16; length++) {
      const code = next >>> (16 - length);
      if (code >= (ends[length] ?? 0)) continue;
      this.drop(length);
      return symbols[code + (offsets[length] ?? 0)] ?? 0;
    }
    throw new Error('a JPEG with an unknown code');
  }

  /** Goes on after the next restart marker. */
  restart(): void {
    [this.buffer, this.count, this.missing] = [0, 0, 0];
    while (this.bytes[this.at] === 0xff && this.bytes[this.at + 1] === 0xff) this.at += 1;
    const marker = this.bytes[this.at + 1] ?? 0;
    if (this.bytes[this.at] !== 0xff || marker < 0xd0 || marker > 0xd7)
      throw new Error('a JPEG without a restart');
    this.at += 2;
  }
}

type Inverse = (coefficients: Int16Array, plane: Uint8ClampedArray, at: number, stride: number) => void;

/** The inverse cosine transform with as many points as the decoded block has. It leaves the high frequencies out. */
function inverseOf(quantums: Float32Array | undefined, edge: number): Inverse {
  if (!quantums) throw new Error('a JPEG without a quantization');
  const wave = waves(edge);
  const half = new Float32Array(edge * edge);
  return (coefficients, plane, at, stride) => {
    for (let v = 0; v < edge; v++)
      for (let x = 0; x < edge; x++) {
        let sum = 0;
        for (let u = 0; u < edge; u++) {
          const value = coefficients[v * 8 + u] ?? 0;
          if (value !== 0) sum += value * (quantums[v * 8 + u] ?? 0) * (wave[x * edge + u] ?? 0);
        }
        half[v * edge + x] = sum;
      }
    for (let y = 0; y < edge; y++)
      for (let x = 0; x < edge; x++) {
        let sum = 128;
        for (let v = 0; v < edge; v++) sum += (half[v * edge + x] ?? 0) * (wave[y * edge + v] ?? 0);
        plane[at + y * stride + x] = sum;
      }
  };
}

function picture({ components, h, v, ...size }: Frame, edge: number, isRgb: boolean): Rows {
  const [width, height] = [Math.ceil((size.width * edge) / 8), Math.ceil((size.height * edge) / 8)];
  const out = new Uint8ClampedArray(width * 4).fill(255);
  const rows = function* (): Generator<Uint8ClampedArray> {
    for (let y = 0; y < height; y++) {
      for (const [channel, { plane, across, ...one }] of components.entries()) {
        const start = Math.floor((y * one.v) / v) * across * edge;
        for (let x = 0, p = channel; x < width; x++, p += 4)
          out[p] = plane[start + Math.floor((x * one.h) / h)] ?? 0;
      }
      if (components.length === 1)
        for (let p = 0; p < out.length; p += 4) out[p + 1] = out[p + 2] = out[p] ?? 0;
      else if (!isRgb) toRgb(out);
      yield out;
    }
  };
  return { width, height, rows: rows() };
}

/** JFIF 1.02: luminance and two differences of colour. */
function toRgb(row: Uint8ClampedArray): void {
  for (let p = 0; p < row.length; p += 4) {
    const [y, blue, red] = [row[p] ?? 0, (row[p + 1] ?? 0) - 128, (row[p + 2] ?? 0) - 128];
    row[p] = y + 1.402 * red;
    row[p + 1] = y - 0.344136 * blue - 0.714136 * red;
    row[p + 2] = y + 1.772 * blue;
  }
}

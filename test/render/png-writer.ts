/** Writes PNGs of every kind for tests. */
import { deflateSync } from 'node:zlib';

/** The size of a picture that names no other. */
export const size = { width: 160, height: 96 };

const uint32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};
export const chunk = (type: string, data: Uint8Array): Buffer =>
  Buffer.concat([uint32(data.length), Buffer.from(type), data, Buffer.alloc(4)]);

export interface Png {
  readonly depth: number;
  readonly colour: number;
  readonly rows: readonly (readonly number[])[];
  readonly chunks?: readonly Buffer[];
  readonly size?: { readonly width: number; readonly height: number };
  readonly interlace?: number;
  /** The rows with their filters, instead of `rows`. */
  readonly whole?: Buffer;
}

/** The filter of each row is the next one, so all five are used. */
export function png({
  depth,
  colour,
  rows,
  chunks = [],
  size: shape = size,
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
  const header = [...uint32(shape.width), ...uint32(shape.height), depth, colour, 0, 0, interlace];
  return Buffer.concat([
    Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]),
    chunk('IHDR', Uint8Array.from(header)),
    ...chunks,
    chunk('IDAT', packed.subarray(0, 20)),
    chunk('IDAT', packed.subarray(20)),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

/** A box filter: each pixel of the small picture is the mean of the area that it covers in the large one. */

type Bytes = Uint8Array | Uint8ClampedArray;

export interface Size {
  readonly width: number;
  readonly height: number;
}

/** Four bytes for each pixel: red, green, blue and opacity. */
export interface Pixels extends Size {
  readonly data: Bytes;
}

/** A decoded picture, as in `Pixels`, some whole rows at a time. They are valid until the next ones. */
export interface Rows extends Size {
  readonly rows: Iterable<Bytes> | AsyncIterable<Bytes>;
}

/** The size of a picture whose longest side has at most `side` pixels. No picture grows. */
export function fitting({ width, height }: Size, side: number): Size {
  const scale = Math.min(1, side / Math.max(width, height));
  return {
    width: Math.max(1, Math.round(width * scale)),
    height: Math.max(1, Math.round(height * scale)),
  };
}

/** What is transparent becomes white. Throws when rows are missing. */
export async function shrink(from: Rows, to: Size, signal?: AbortSignal): Promise<Pixels> {
  const [across, down] = [shares(from.width, to.width), shares(from.height, to.height)];
  const stride = to.width * 3;
  const line = new Float64Array(stride + 3);
  const sums = new Float64Array((to.height + 1) * stride);
  let y = 0;
  for await (const rows of from.rows) {
    signal?.throwIfAborted();
    for (let start = 0; start < rows.length; start += from.width * 4, y++) {
      sumRow(rows, start, across, line);
      const top = (down.at[y] ?? 0) * stride;
      const part = down.part[y] ?? 0;
      for (let i = 0; i < stride; i++) sums[top + i] = (sums[top + i] ?? 0) + (line[i] ?? 0) * part;
      if (part < 1) for (let i = 0; i < stride; i++) sums[top + stride + i] = (line[i] ?? 0) * (1 - part);
    }
  }
  if (y !== from.height) throw new Error('rows are missing');
  const data = new Uint8ClampedArray(to.width * to.height * 4).fill(255);
  const share = (to.width * to.height) / (from.width * from.height);
  for (let i = 0, p = 0; p < data.length; p += 4)
    for (let c = 0; c < 3; c++) data[p + c] = (sums[i++] ?? 0) * share;
  return { ...to, data };
}

function sumRow(row: Bytes, start: number, { at, part }: Shares, line: Float64Array): void {
  let to = 0;
  let [red, green, blue] = [0, 0, 0];
  for (let x = 0, p = start; x < part.length; x++, p += 4) {
    let r = row[p] ?? 0;
    let g = row[p + 1] ?? 0;
    let b = row[p + 2] ?? 0;
    if (row[p + 3] !== 255) {
      const opacity = (row[p + 3] ?? 0) / 255;
      r = 255 - (255 - r) * opacity;
      g = 255 - (255 - g) * opacity;
      b = 255 - (255 - b) * opacity;
    }
    const share = part[x] ?? 0;
    red += r * share;
    green += g * share;
    blue += b * share;
    const next = (at[x + 1] ?? 0) * 3;
    if (next === to) continue;
    line[to] = red;
    line[to + 1] = green;
    line[to + 2] = blue;
    red = r * (1 - share);
    green = g * (1 - share);
    blue = b * (1 - share);
    to = next;
  }
}

export function rowsOf({ data, ...size }: Pixels): Rows {
  return { ...size, rows: [data] };
}

/** For each old pixel: the new pixel in which it begins, and its part there. The rest is in the next new pixel. */
interface Shares {
  /** One more than pixels: the end. */
  readonly at: Int32Array;
  readonly part: Float32Array;
}

function shares(from: number, to: number): Shares {
  const at = new Int32Array(from + 1).fill(to);
  const part = new Float32Array(from);
  for (let i = 0; i < from; i++) {
    const [start, end] = [(i * to) / from, ((i + 1) * to) / from];
    at[i] = Math.floor(start);
    part[i] = end <= Math.floor(start) + 1 ? 1 : (Math.floor(start) + 1 - start) / (end - start);
  }
  return { at, part };
}

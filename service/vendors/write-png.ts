/** Writes PNG. */
import { constants, crc32, createDeflate } from 'node:zlib';

export interface PngForm {
  readonly width: number;
  readonly height: number;
  /** RGB or RGBA. */
  readonly samples: 3 | 4;
  /** More chunks, such as texts. */
  readonly chunks?: readonly (readonly [type: string, data: Buffer])[];
}

const signature = Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]);
const upFilterType = 2;
const pixelsABand = 1 << 17;

/**
 * Writes a PNG of 8 bits.
 * @param bandsOf returns the pixels of the picture in bands of the given number of rows, or fewer. This function copies
 *   a band before it asks for the next band, so all bands may use the same memory
 */
export async function writePng(
  { width, height, samples, chunks = [] }: PngForm,
  bandsOf: (rows: number) => AsyncIterable<Uint8Array>,
): Promise<Buffer> {
  const stride = width * samples;
  // Deflate runs on a thread of its own while the next band is painted. Level 1 is enough, because the grain
  // does not compress at any level.
  const deflate = createDeflate({ level: 1, strategy: constants.Z_RLE, chunkSize: 1 << 17 });
  const packed: Buffer[] = [];
  deflate.on('data', (chunk: Buffer) => packed.push(chunk));
  const ended = new Promise<void>((resolve, reject) => deflate.on('end', resolve).on('error', reject));
  let above = new Uint8Array(stride);
  let written = Promise.resolve();
  for await (const band of bandsOf(Math.ceil(pixelsABand / width))) {
    const filtered = filterUp(band, above, stride);
    above = band.slice(band.length - stride);
    // At most one band waits for deflate while the next band is painted.
    await written;
    written = new Promise((resolve) => deflate.write(filtered, () => resolve()));
  }
  deflate.end();
  await ended;
  return Buffer.concat([
    signature,
    chunk('IHDR', header(width, height, samples)),
    ...chunks.map(([type, data]) => chunk(type, data)),
    ...packed.map((part) => chunk('IDAT', part)),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

/** The PNG filter "up": each byte minus the byte above, which is small in a smooth picture. */
function filterUp(band: Uint8Array, above: Uint8Array, stride: number): Uint8Array {
  const rows = band.length / stride;
  const out = new Uint8Array(rows * (stride + 1));
  for (let row = 0, to = 0; row < rows; row++) {
    out[to++] = upFilterType;
    const start = row * stride;
    if (row === 0) for (let i = 0; i < stride; i++) out[to++] = (band[i] ?? 0) - (above[i] ?? 0);
    else for (let i = start; i < start + stride; i++) out[to++] = (band[i] ?? 0) - (band[i - stride] ?? 0);
  }
  return out;
}

function header(width: number, height: number, samples: 3 | 4): Buffer {
  const data = Buffer.alloc(13);
  data.writeUInt32BE(width, 0);
  data.writeUInt32BE(height, 4);
  // 8 bits for each sample, and the colour type 2 (RGB) or 6 (RGBA). The compression, filter and interlace methods
  // stay 0.
  data.set([8, samples === 3 ? 2 : 6], 8);
  return data;
}

function chunk(type: string, data: Buffer): Buffer {
  const out = Buffer.alloc(data.length + 12);
  out.writeUInt32BE(data.length, 0);
  out.write(type, 4, 'latin1');
  data.copy(out, 8);
  out.writeUInt32BE(crc32(out.subarray(4, data.length + 8)), data.length + 8);
  return out;
}

import { constants, crc32, createDeflate } from 'node:zlib';
import type { Frame } from './frame.ts';

const signature = Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]);
const upFilterType = 2;
const pixelsABand = 1 << 17;

/**
 * Writes an 8-bit RGB PNG with the prompt as its description.
 *
 * @param bandsOf returns the pixels of the picture in bands of the given number of rows. This function copies
 *   a band before it asks for the next band, so all bands may use the same memory
 */
export async function writePng(
  frame: Frame,
  prompt: string,
  bandsOf: (rows: number) => AsyncIterable<Uint8Array>,
): Promise<Buffer> {
  const stride = frame.width * 3;
  // Deflate runs on a thread of its own while the next band is painted. Level 1 is enough, because the grain
  // does not compress at any level.
  const deflate = createDeflate({ level: 1, strategy: constants.Z_RLE, chunkSize: 1 << 17 });
  const packed: Buffer[] = [];
  deflate.on('data', (chunk: Buffer) => packed.push(chunk));
  const ended = new Promise<void>((resolve, reject) => deflate.on('end', resolve).on('error', reject));
  let above = new Uint8Array(stride);
  let written = Promise.resolve();
  for await (const band of bandsOf(Math.ceil(pixelsABand / frame.width))) {
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
    chunk('IHDR', header(frame)),
    chunk('tEXt', Buffer.from('Software\0Darkroom sandbox', 'latin1')),
    chunk('iTXt', description(prompt)),
    ...packed.map((part) => chunk('IDAT', part)),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

/**
 * Applies the PNG filter "up", which subtracts from each byte the byte above. The differences are small where
 * the picture is smooth.
 */
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

function header({ width, height }: Frame): Buffer {
  const data = Buffer.alloc(13);
  data.writeUInt32BE(width, 0);
  data.writeUInt32BE(height, 4);
  // 8 bits for each sample, and the colour type 2 (RGB). The compression, filter and interlace methods stay
  // 0.
  data.set([8, 2], 8);
  return data;
}

/**
 * The content of the iTXt chunk: a keyword, zeros for "not compressed", "no language" and "no translated
 * keyword", and the text (PNG, second edition, section
 * 11.3.4.5).
 */
function description(prompt: string): Buffer {
  // PNG forbids NUL in the text, so U+FFFD takes the place of each NUL.
  return Buffer.from(`Description\0\0\0\0\0${prompt.replaceAll('\0', '\uFFFD')}`, 'utf8');
}

function chunk(type: string, data: Buffer): Buffer {
  const out = Buffer.alloc(data.length + 12);
  out.writeUInt32BE(data.length, 0);
  out.write(type, 4, 'latin1');
  data.copy(out, 8);
  out.writeUInt32BE(crc32(out.subarray(4, data.length + 8)), data.length + 8);
  return out;
}

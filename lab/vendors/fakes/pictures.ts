/** Pictures of one colour that a fake vendor sends, in the requested format and size. */
import { crc32, deflateSync } from 'node:zlib';
import { encode } from 'jpeg-js';
import type { OutputFormat } from '../../../service/contract/request-fields.ts';

export interface Pixels {
  readonly width: number;
  readonly height: number;
}

/** As a vendor sizes a picture that is asked for by a class like "2K" and a ratio: sides in steps of 16. */
export function pixelsNear(resolution: string, ratio: string): Pixels {
  const [across = 1, down = 1] = ratio.split(':').map(Number);
  const edge = Number.parseFloat(resolution) * 1024;
  const side = (share: number): number => Math.round((edge * Math.sqrt(share)) / 16) * 16;
  return { width: side(across / down), height: side(down / across) };
}

/** What paints the pictures of a fake. */
export type Paint = (format: OutputFormat, width: number, height: number) => Buffer;

/** Any decoder opens a PNG or JPEG of this function. A WebP consists of its header alone. */
export function pictureOf(format: OutputFormat, width: number, height: number): Buffer {
  switch (format) {
    case 'png':
      return pngOf(width, height);
    case 'jpeg':
      return encode({ width, height, data: Buffer.alloc(width * height * 4, 0x9c) }, 60).data;
    case 'webp':
      return webpHeaderOf(width, height);
  }
}

function pngOf(width: number, height: number): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  // Eight bits of grey: each pixel is one byte, and each row begins with a filter byte.
  header.set([8, 0, 0, 0, 0], 8);
  const rows = Buffer.alloc((width + 1) * height, 0x9c);
  for (let row = 0; row < height; row += 1) rows[row * (width + 1)] = 0;
  const signature = Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]);
  return Buffer.concat([
    signature,
    chunkOf('IHDR', header),
    chunkOf('IDAT', deflateSync(rows, { level: 1 })),
    chunkOf('IEND', Buffer.alloc(0)),
  ]);
}

function chunkOf(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'ascii'), data]);
  const chunk = Buffer.alloc(body.length + 8);
  chunk.writeUInt32BE(data.length, 0);
  body.copy(chunk, 4);
  chunk.writeUInt32BE(crc32(body), body.length + 4);
  return chunk;
}

/** RIFF, WEBP and a VP8X chunk. The chunk holds width - 1 and height - 1, in 24 bits each (RFC 9649, 2.7). */
function webpHeaderOf(width: number, height: number): Buffer {
  const file = Buffer.alloc(30);
  file.write('RIFF', 0, 'ascii');
  file.writeUInt32LE(22, 4);
  file.write('WEBPVP8X', 8, 'ascii');
  file.writeUInt32LE(10, 16);
  file.writeUIntLE(width - 1, 24, 3);
  file.writeUIntLE(height - 1, 27, 3);
  return file;
}

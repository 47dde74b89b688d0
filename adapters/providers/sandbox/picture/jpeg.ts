import encode from 'jpeg-js/lib/encoder.js';
import type { Frame } from './frame.ts';

const quality = 88;
/** Rows of blocks are encoded together up to this many pixels: 60 ms. */
const pixelsAStrip = 1 << 20;
const block = 8;
/** A segment's length is 16 bits and counts itself. */
const commentLimit = 65_533;

/**
 * Writes a baseline JPEG (4:4:4) with the prompt as its comment.
 *
 * jpeg-js encodes a picture in one go, a second for the largest. So the picture is encoded in strips, and the
 * strips' data is joined with restart markers: after one, a decoder starts afresh, just as the encoder did
 * with each strip (ITU T.81, E.1.4).
 *
 * @param bandsOf asked for bands of that many rows (the last may have fewer) with 4 bytes a pixel
 */
export async function writeJpeg(
  frame: Frame,
  prompt: string,
  bandsOf: (rows: number) => AsyncIterable<Uint8Array>,
): Promise<Buffer> {
  const blocksAcross = Math.ceil(frame.width / block);
  const rows = stripRows(frame.width, blocksAcross);
  const parts: Uint8Array[] = [];
  let strips = 0;
  for await (const data of bandsOf(rows)) {
    const strip = encode({ data, width: frame.width, height: data.length / 4 / frame.width }, quality).data;
    const scan = scanStart(strip);
    if (strips === 0)
      parts.push(opening(strip.subarray(0, scan), frame, prompt, (rows / block) * blocksAcross));
    else parts.push(Buffer.from([0xff, 0xd0 + ((strips - 1) % 8)]));
    // Without the end marker, the last two bytes.
    parts.push(strip.subarray(scan, strip.length - 2));
    strips++;
  }
  return Buffer.concat([...parts, Buffer.from([0xff, 0xd9])]);
}

/** Whole rows of blocks. A restart interval is 16 bits and counts blocks. */
function stripRows(width: number, blocksAcross: number): number {
  const lines = Math.min(pixelsAStrip / width / block, 0xffff / blocksAcross);
  return Math.max(1, Math.floor(lines)) * block;
}

/** Where the entropy-coded data begins: behind the start-of-scan segment. */
function scanStart(strip: Buffer): number {
  const at = segmentAt(strip, SOS);
  return at + 2 + strip.readUInt16BE(at + 2);
}

const [SOF0, SOS, DRI, COM] = [0xc0, 0xda, 0xdd, 0xfe];

/** The first strip's segments, for the whole picture: its height, the restart interval and the comment. */
function opening(segments: Buffer, frame: Frame, prompt: string, interval: number): Buffer {
  const head = Buffer.from(segments);
  head.writeUInt16BE(frame.height, segmentAt(head, SOF0) + 5);
  const restart = Buffer.from([interval >> 8, interval & 255]);
  // SOI takes 2 bytes, the JFIF segment 18.
  return Buffer.concat([
    head.subarray(0, 20),
    segment(COM, comment(prompt)),
    segment(DRI, restart),
    head.subarray(20),
  ]);
}

function segmentAt(bytes: Buffer, marker: number): number {
  let at = 2;
  while (bytes[at + 1] !== marker) at += 2 + bytes.readUInt16BE(at + 2);
  return at;
}

function segment(marker: number, data: Buffer): Buffer {
  return Buffer.concat([Buffer.from([0xff, marker, (data.length + 2) >> 8, (data.length + 2) & 255]), data]);
}

/** The prompt as UTF-8, cut before the character that does not fit whole. */
function comment(prompt: string): Buffer {
  const bytes = Buffer.from(prompt, 'utf8');
  let end = Math.min(bytes.length, commentLimit);
  // 10xxxxxx is the inside of a character.
  while (end < bytes.length && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return bytes.subarray(0, end);
}

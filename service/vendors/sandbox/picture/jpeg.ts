import encode from 'jpeg-js/lib/encoder.js';
import type { Frame } from './frame.ts';

const quality = 88;
/** A strip has at most this many pixels. Encoding a strip takes about 60 ms. */
const pixelsAStrip = 1 << 20;
const block = 8;
/** The most bytes of a comment. The length of a segment has 16 bits, and includes its own 2 bytes. */
const commentLimit = 65_533;

/**
 * Writes a baseline JPEG (4:4:4) with the prompt as its comment.
 *
 * jpeg-js encodes a picture in one call, which takes a second for the largest picture. So this function
 * encodes the picture in strips, and joins the data of the strips with restart markers. A decoder resets its
 * state at a restart marker. The encoder began each strip in the same state (ITU T.81, E.1.4).
 *
 * @param bandsOf returns the picture in bands of the given number of rows, with 4 bytes for each pixel; the
 *   last band may have fewer rows
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
    // The last two bytes of a strip are its end marker. Only the whole picture gets an end marker.
    parts.push(strip.subarray(scan, strip.length - 2));
    strips++;
  }
  return Buffer.concat([...parts, Buffer.from([0xff, 0xd9])]);
}

/**
 * The number of pixel rows in a strip. A strip has whole rows of blocks. It has fewer than 65,536 blocks,
 * because the restart interval counts the blocks of a strip in 16 bits.
 */
function stripRows(width: number, blocksAcross: number): number {
  const lines = Math.min(pixelsAStrip / width / block, 0xffff / blocksAcross);
  return Math.max(1, Math.floor(lines)) * block;
}

/** The index at which the entropy-coded data begins. This data follows the start-of-scan segment. */
function scanStart(strip: Buffer): number {
  const at = segmentAt(strip, SOS);
  return at + 2 + strip.readUInt16BE(at + 2);
}

const [SOF0, SOS, DRI, COM] = [0xc0, 0xda, 0xdd, 0xfe];

/**
 * The segments before the data. They are those of the first strip, with the height of the whole picture, the
 * restart interval and the comment.
 */
function opening(segments: Buffer, frame: Frame, prompt: string, interval: number): Buffer {
  const head = Buffer.from(segments);
  head.writeUInt16BE(frame.height, segmentAt(head, SOF0) + 5);
  const restart = Buffer.from([interval >> 8, interval & 255]);
  // The first 20 bytes are the start marker (2 bytes) and the JFIF segment (18 bytes).
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

/** The prompt as UTF-8. A prompt that is too long ends before the first character that does not fit. */
function comment(prompt: string): Buffer {
  const bytes = Buffer.from(prompt, 'utf8');
  let end = Math.min(bytes.length, commentLimit);
  // A byte of the form 10xxxxxx continues a character, so the cut moves to the beginning of this character.
  while (end < bytes.length && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return bytes.subarray(0, end);
}

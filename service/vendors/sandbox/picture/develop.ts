import encode from 'jpeg-js/lib/encoder.js';
import type { Frame, PaintRow } from './colour.ts';
import { diceFor } from './noise.ts';

const tile = 256;
/** The strength of the grain, in levels of colour: it hides bands, and is too weak to see as noise. */
const grainLevels = 1.5;
/** The painter pauses after this many pixels, which take about 20 ms. */
const pixelsATurn = 1 << 18;

/**
 * Paints the picture in bands, adds the grain, and rounds the colours to bytes. Timers and requests can run
 * during the pauses. Every band uses the same memory, so the caller must use a band before it asks for the
 * next band.
 *
 * @param samples bytes for each pixel: 3 for RGB, or 4 for RGB and a byte that stays 255
 * @param rows pixel rows in each band; the last band may have fewer
 */
export async function* develop(
  frame: Frame,
  paint: PaintRow,
  samples: 3 | 4,
  rows: number,
): AsyncGenerator<Uint8Array> {
  const stride = frame.width * samples;
  const band = new Uint8Array(rows * stride).fill(255);
  const row = new Float32Array(frame.width * 3);
  const grain = grainTile();
  let painted = 0;
  for (let y = 0; y < frame.height; y++) {
    const start = (y % rows) * stride;
    paint(y, row);
    expose(row, grain, y % tile, band.subarray(start, start + stride), samples);
    painted += frame.width;
    if (painted > pixelsATurn) {
      painted = 0;
      await new Promise((resolve) => setImmediate(resolve));
    }
    if ((y + 1) % rows === 0 || y + 1 === frame.height) yield band.subarray(0, start + stride);
  }
}

/** Adds the grain to a row, alike for the three colours, and rounds. It also works as dither. */
function expose(row: Float32Array, grain: Float32Array, line: number, out: Uint8Array, samples: 3 | 4): void {
  const start = line * tile;
  for (let x = 0, p = 0, to = 0; p < row.length; x++, p += 3, to += samples) {
    const speck = (grain[start + (x & (tile - 1))] ?? 0) + 0.5;
    out[to] = clampByte((row[p] ?? 0) + speck);
    out[to + 1] = clampByte((row[p + 1] ?? 0) + speck);
    out[to + 2] = clampByte((row[p + 2] ?? 0) + speck);
  }
}

function clampByte(value: number): number {
  return value < 0 ? 0 : value > 255 ? 255 : value | 0;
}

let knownGrain: Float32Array | undefined;

/** White noise without its blurred copy: fine specks remain, and no cloudy spots that look dirty. */
function grainTile(): Float32Array {
  if (knownGrain) return knownGrain;
  const dice = diceFor('', 0, 'grain');
  const white = Float32Array.from({ length: tile * tile }, () => dice.next() + dice.next() - 1);
  const at = (x: number, y: number) => white[((y + tile) % tile) * tile + ((x + tile) % tile)] ?? 0;
  knownGrain = white.map((value, i) => {
    const [x, y] = [i % tile, Math.floor(i / tile)];
    const around = at(x - 1, y) + at(x + 1, y) + at(x, y - 1) + at(x, y + 1);
    return (value - around * 0.2) * grainLevels * 2;
  });
  return knownGrain;
}

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

/** Pixel rows of a strip: whole rows of blocks, and fewer than 65,536 blocks, a count of 16 bits. */
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

/** The segments before the data: the first strip's, with the whole height, restarts and the comment. */
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

/** The chunks with texts: who made the picture, and the prompt as its description. */
export function pngTexts(prompt: string): readonly (readonly [type: string, data: Buffer])[] {
  return [
    ['tEXt', Buffer.from('Software\0Darkroom sandbox', 'latin1')],
    ['iTXt', description(prompt)],
  ];
}

/** The iTXt chunk: a keyword, three zeros and the text (PNG, second edition, 11.3.4.5). */
function description(prompt: string): Buffer {
  // PNG forbids NUL in the text, so U+FFFD replaces each NUL.
  return Buffer.from(`Description\0\0\0\0\0${prompt.replaceAll('\0', '\uFFFD')}`, 'utf8');
}

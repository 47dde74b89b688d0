import { diceFor } from './dice.ts';
import type { Frame, PaintRow } from './frame.ts';

const tile = 256;
/**
 * The strength of the grain, in levels of colour. It hides bands in the sky, and it is too weak to see as
 * noise.
 */
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

/**
 * Adds the grain to a row and rounds the row to bytes. The three colours of a pixel get the same grain. The
 * grain also works as dither: it hides the steps that rounding would leave in a smooth sky.
 */
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

/**
 * White noise, from which a blurred copy of the same noise is subtracted. Fine specks remain. Without the
 * subtraction, the specks would gather in cloudy spots that look dirty.
 */
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

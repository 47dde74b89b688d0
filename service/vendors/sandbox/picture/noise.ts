import { createHash } from 'node:crypto';
import type { Frame } from './colour.ts';

/** Smooth random values from about -1 to 1: equal for equal positions, similar for near ones. */
export interface Noise {
  line(x: number): number;
  plane(x: number, y: number): number;
}

/** Gradient noise (Ken Perlin, 2002). The dice shuffle its table. The noise repeats every 256 units. */
export function noiseFrom(dice: Dice): Noise {
  const order = shuffled(dice);
  const [east, south] = [new Float32Array(512), new Float32Array(512)];
  for (let i = 0; i < 512; i++) {
    // The directions are spread evenly over the circle. The factor 1.5 moves the usual extremes of plane()
    // close to -1 and 1.
    const angle = ((order[i] ?? 0) / 256) * 2 * Math.PI;
    east[i] = Math.cos(angle) * 1.5;
    south[i] = Math.sin(angle) * 1.5;
  }
  return {
    line: (x) => lineNoise(order, x),
    plane: (x, y) => planeNoise(order, east, south, x, y),
  };
}

/** The sum of octaves of plane noise. Each is twice as fine and half as strong as the one before. */
export function fractal(noise: Noise, x: number, y: number, octaves: number): number {
  let sum = 0;
  let strength = 1;
  for (let octave = 0; octave < octaves; octave++) {
    sum += noise.plane(x, y) * strength;
    // The factor is not exactly 2, and each octave is shifted. Otherwise all octaves would be 0 at the
    // origin.
    x = x * 2.03 + 17.7;
    y = y * 2.03 - 9.2;
    strength *= 0.5;
  }
  return sum;
}

function shuffled(dice: Dice): Uint8Array {
  const order = new Uint8Array(512);
  for (let i = 0; i < 256; i++) order[i] = i;
  for (let i = 255; i > 0; i--) {
    const j = dice.below(i + 1);
    const kept = order[i] ?? 0;
    order[i] = order[j] ?? 0;
    order[j] = kept;
  }
  // The table holds the order twice, so that the index order[x] + y + 1 never lies behind its end.
  order.copyWithin(256, 0, 256);
  return order;
}

function lineNoise(order: Uint8Array, x: number): number {
  const cell = Math.floor(x);
  const part = x - cell;
  const left = ((order[cell & 255] ?? 0) - 127.5) / 127.5;
  const right = ((order[(cell + 1) & 255] ?? 0) - 127.5) / 127.5;
  return (left * part + (right * (part - 1) - left * part) * eased(part)) * 2;
}

function planeNoise(
  order: Uint8Array,
  east: Float32Array,
  south: Float32Array,
  x: number,
  y: number,
): number {
  const column = Math.floor(x);
  const line = Math.floor(y);
  const dx = x - column;
  const dy = y - line;
  const top = (order[column & 255] ?? 0) + (line & 255);
  const next = (order[(column + 1) & 255] ?? 0) + (line & 255);
  const a = order[top & 511] ?? 0;
  const b = order[next & 511] ?? 0;
  const c = order[(top + 1) & 511] ?? 0;
  const d = order[(next + 1) & 511] ?? 0;
  const u = eased(dx);
  const northWest = (east[a] ?? 0) * dx + (south[a] ?? 0) * dy;
  const northEast = (east[b] ?? 0) * (dx - 1) + (south[b] ?? 0) * dy;
  const southWest = (east[c] ?? 0) * dx + (south[c] ?? 0) * (dy - 1);
  const southEast = (east[d] ?? 0) * (dx - 1) + (south[d] ?? 0) * (dy - 1);
  const north = northWest + (northEast - northWest) * u;
  return north + (southWest + (southEast - southWest) * u - north) * eased(dy);
}

function eased(part: number): number {
  return part * part * part * (part * (part * 6 - 15) + 10);
}

/** Repeatable random numbers: the same prompt, seed and part of the picture give the same ones. */
export interface Dice {
  /** A number from 0 (included) to 1 (excluded). */
  next(): number;
  /** A number from `low` (included) to `high` (excluded). */
  between(low: number, high: number): number;
  /** A whole number from 0 (included) to `count` (excluded). */
  below(count: number): number;
  /** True with the given probability, 0 to 1. */
  chance(probability: number): boolean;
  /** One of the options, which must not be empty. */
  pick<T>(options: readonly [T, ...T[]]): T;
}

/** The dice of one part of a picture: a change of the sky moves no mountains of any prompt. */
export function diceFor(prompt: string, seed: number, part: string): Dice {
  // JSON separates the three values, and writes lone surrogates as escapes. So two different prompts never
  // have the same digest.
  const digest = createHash('sha256')
    .update(JSON.stringify([prompt, seed, part]))
    .digest();
  const next = sfc32(digest);
  return {
    next,
    between: (low, high) => low + (high - low) * next(),
    below: (count) => Math.floor(next() * count),
    chance: (probability) => next() < probability,
    pick: (options) => options[Math.floor(next() * options.length)] ?? options[0],
  };
}

/** The generator "Small Fast Counter", 32 bits, of PractRand (public domain): 128 bits of state. */
function sfc32(digest: Buffer): () => number {
  let a = digest.readInt32LE(0);
  let b = digest.readInt32LE(4);
  let c = digest.readInt32LE(8);
  let counter = digest.readInt32LE(12);
  return () => {
    const sum = (((a + b) | 0) + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + sum) | 0;
    return (sum >>> 0) / 2 ** 32;
  };
}

/** A smooth quantity over the picture, interpolated for each pixel from a coarse grid. */
export interface Field {
  /** Writes the quantity of a pixel row to `out`. `y`: pixels from the top, also fractions. */
  readRow(y: number, out: Float32Array): void;
}

/**
 * Evaluates `at` on a coarse grid, and fills the space between the nodes with cubic B-splines. These splines
 * are smooth to the second derivative. So light that follows the slope of the field shows no flat faces. `at`
 * gets `x` and `y` in units of the frame.
 *
 * @param nodes how many nodes the grid has along the longer side of the picture
 */
export function fieldOf(frame: Frame, nodes: number, at: (x: number, y: number) => number): Field {
  const longer = Math.max(frame.width, frame.height);
  // More than one node for two pixels would make no visible difference in a small picture.
  const step = longer / Math.min(nodes, Math.ceil(longer / 2));
  const columns = Math.ceil(frame.width / step) + 4;
  const lines = Math.ceil(frame.height / step) + 4;
  const values = new Float32Array(columns * lines);
  for (let line = 0; line < lines; line++) {
    for (let column = 0; column < columns; column++) {
      const [x, y] = [(column - 1) * step - frame.width / 2, (line - 1) * step - frame.height / 2];
      values[line * columns + column] = at(x / frame.unit, y / frame.unit);
    }
  }
  const spread = spreadOver(frame.width, step);
  const blended = new Float32Array(columns);
  return {
    readRow(y, out) {
      blendLines(values, columns, Math.min(Math.max(y, 0), frame.height) / step, blended);
      spread(blended, out);
    },
  };
}

/** The weights of the four nearest nodes, at a fraction of the way from one node to the next. */
function weights(part: number): [number, number, number, number] {
  const rest = 1 - part;
  return [
    (rest * rest * rest) / 6,
    (3 * part * part * part - 6 * part * part + 4) / 6,
    (3 * rest * rest * rest - 6 * rest * rest + 4) / 6,
    (part * part * part) / 6,
  ];
}

function blendLines(values: Float32Array, columns: number, at: number, out: Float32Array): void {
  const line = Math.floor(at);
  const [a, b, c, d] = weights(at - line);
  const start = line * columns;
  for (let column = 0; column < columns; column++) {
    const i = start + column;
    out[column] =
      (values[i] ?? 0) * a +
      (values[i + columns] ?? 0) * b +
      (values[i + 2 * columns] ?? 0) * c +
      (values[i + 3 * columns] ?? 0) * d;
  }
}

function spreadOver(width: number, step: number): (nodes: Float32Array, out: Float32Array) => void {
  const first = new Int32Array(width);
  const parts = new Float32Array(width * 4);
  for (let x = 0; x < width; x++) {
    const at = (x + 0.5) / step;
    first[x] = Math.floor(at);
    parts.set(weights(at - Math.floor(at)), x * 4);
  }
  return (nodes, out) => {
    for (let x = 0, p = 0; x < width; x++, p += 4) {
      const i = first[x] ?? 0;
      out[x] =
        (nodes[i] ?? 0) * (parts[p] ?? 0) +
        (nodes[i + 1] ?? 0) * (parts[p + 1] ?? 0) +
        (nodes[i + 2] ?? 0) * (parts[p + 2] ?? 0) +
        (nodes[i + 3] ?? 0) * (parts[p + 3] ?? 0);
    }
  };
}

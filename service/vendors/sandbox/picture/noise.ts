import type { Dice } from './dice.ts';

/**
 * Smooth random values. The same place gives the same value, and places near each other give similar values.
 * The values lie between about -1 and 1.
 */
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

/**
 * The sum of several octaves of plane noise. An octave is twice as fine and half as strong as the one before.
 */
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

import { mix, type Rgb } from './colour.ts';
import type { Dice } from './dice.ts';
import type { Frame, PaintRow } from './frame.ts';
import { noiseFrom } from './noise.ts';
import type { Palette } from './palette.ts';

/** A curtain of light. Each array has one number for each column of the picture. */
interface Curtain {
  /** The lower edge of the curtain, in pixels from the top of the picture. */
  readonly foot: Float32Array;
  /** The height of the curtain, in pixels. */
  readonly reach: Float32Array;
  /** The brightness of the curtain, 0 to 1. */
  readonly light: Float32Array;
  /** The highest row of the picture that the curtain touches. */
  readonly highest: number;
  /** The lowest row of the picture that the curtain touches. */
  readonly lowest: number;
}

const steps = 1024;
/**
 * The profile is the table of colours from the bottom of a curtain to its top. It begins this far below the
 * foot, and ends at 2 above the foot. Both are measured in heights of the curtain.
 */
const lowestLevel = 0.3;
const violetLight: Rgb = [150, 92, 226];

/**
 * Paints northern lights as three curtains. A curtain has rays and a bright foot with a sharp edge. Its
 * colour changes from green at the foot to violet at the top.
 */
export function auroraPainter(frame: Frame, palette: Palette, horizon: number, dice: Dice): PaintRow {
  const green =
    palette.night && palette.name === 'boreal' ? palette.accent : mix(palette.accent, [96, 240, 190], 0.75);
  const colours = profileOf(green);
  const curtains = [0, 1, 2].map((i) => curtainOf(frame, horizon, i, dice));
  return (y, row) => {
    if (y > horizon) return;
    for (const curtain of curtains) {
      if (y < curtain.highest || y > curtain.lowest) continue;
      for (let x = 0, p = 0; p < row.length; x++, p += 3) {
        const above = ((curtain.foot[x] ?? 0) - y) / (curtain.reach[x] ?? 1);
        if (above < -lowestLevel || above >= 2) continue;
        const at = (((above + lowestLevel) / (2 + lowestLevel)) * steps) | 0;
        screen(row, p, colours, at * 3, curtain.light[x] ?? 0);
      }
    }
  };
}

/** Adds the light of a curtain to a pixel. The result is never brighter than white. */
function screen(row: Float32Array, p: number, colours: Float32Array, c: number, light: number): void {
  const red = row[p] ?? 0;
  const green = row[p + 1] ?? 0;
  const blue = row[p + 2] ?? 0;
  row[p] = red + (255 - red) * (colours[c] ?? 0) * light;
  row[p + 1] = green + (255 - green) * (colours[c + 1] ?? 0) * light;
  row[p + 2] = blue + (255 - blue) * (colours[c + 2] ?? 0) * light;
}

function profileOf(green: Rgb): Float32Array {
  const table = new Float32Array(steps * 3);
  for (let i = 0; i < steps; i++) {
    const above = (i / steps) * (2 + lowestLevel) - lowestLevel;
    const light = above < 0 ? (1 + above / lowestLevel) ** 4 : Math.exp(-above * 2.1) * (1 - above / 2);
    const colour = mix(green, violetLight, Math.min(1, Math.max(0, above * 1.3)));
    table.set(
      colour.map((level) => (level / 255) * light),
      i * 3,
    );
  }
  return table;
}

function curtainOf(frame: Frame, horizon: number, i: number, dice: Dice): Curtain {
  const noise = noiseFrom(dice);
  const shift = dice.between(0, 200);
  const base = horizon * (0.5 + 0.15 * i);
  const [foot, reach, light] = [
    new Float32Array(frame.width),
    new Float32Array(frame.width),
    new Float32Array(frame.width),
  ];
  for (let x = 0; x < frame.width; x++) {
    const u = (x - frame.width / 2) / frame.unit + shift;
    const bend = u + 0.18 * noise.line(u * 2.1 + 50);
    foot[x] =
      base +
      horizon * (0.3 * noise.line(bend * 0.8) + 0.07 * noise.line(bend * 2.7) + 0.012 * noise.line(bend * 9));
    const rays =
      0.66 + 0.3 * noise.line(bend * 9) + 0.22 * noise.line(bend * 23) + 0.12 * noise.line(bend * 61);
    const drift = Math.min(1.1, Math.max(0, 0.6 + 0.9 * noise.line(u * 1.05 + 20 * i)));
    reach[x] = horizon * (0.36 + 0.16 * noise.line(bend * 3 + 9) + 0.12 * rays);
    light[x] = Math.min(0.97, Math.max(0, drift * rays * (1.4 - 0.2 * i)));
  }
  const tops = foot.map((row, x) => row - 2 * (reach[x] ?? 0));
  const bottoms = foot.map((row, x) => row + lowestLevel * (reach[x] ?? 0));
  return { foot, reach, light, highest: Math.min(...extremes(tops)), lowest: Math.max(...extremes(bottoms)) };
}

function extremes(values: Float32Array): [number, number] {
  return values.reduce<[number, number]>(
    ([low, high], value) => [Math.min(low, value), Math.max(high, value)],
    [Infinity, -Infinity],
  );
}

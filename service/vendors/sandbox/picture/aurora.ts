import { type Frame, gradient, mix, type PaintRow, type Palette, type Rgb, tonesOf } from './colour.ts';
import { type Dice, fieldOf, fractal, noiseFrom } from './noise.ts';

/** A curtain of light. Each array has one number for each column of the picture. */
interface Curtain {
  /** The lower edge of the curtain, in pixels from the top of the picture. */
  readonly foot: Float32Array;
  readonly reach: Float32Array;
  /** The brightness of the curtain, 0 to 1. */
  readonly light: Float32Array;
  /** The highest row of the picture that the curtain touches. */
  readonly highest: number;
  /** The lowest row of the picture that the curtain touches. */
  readonly lowest: number;
}

const steps = 1024;
/** The table of colours from this far below a curtain's foot to 2 above it, in heights. */
const lowestLevel = 0.3;
const violetLight: Rgb = [150, 92, 226];

/** Paints northern lights: three curtains with rays and a bright, sharp foot, from green to violet. */
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

const silkSteps = 4096;

/** Paints folds of cloth: noise shifted by noise, which shines where its slope faces the light. */
export function silkPainter(frame: Frame, palette: Palette, dice: Dice): PaintRow {
  const noise = noiseFrom(dice);
  const angle = dice.between(0.3, 1.1) * (dice.chance(0.5) ? 1 : -1);
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
  const zoom = dice.between(0.95, 1.35);
  const folds = dice.between(1.5, 2.4);
  const cloth = (x: number, y: number) => {
    const [u, v] = [(x * cos + y * sin) * zoom, (y * cos - x * sin) * zoom * 1.7];
    const p = fractal(noise, u * 0.7 + 3, v * 0.5, 2);
    const q = fractal(noise, u * 0.6 + 1.3 * p + 30, v * 0.9 + 0.9 * p, 2);
    return v * 0.42 + 0.85 * q + 0.25 * p;
  };
  const tone = fieldOf(frame, 300, (x, y) => cloth(x, y));
  const light = fieldOf(frame, 300, (x, y) => {
    const [h, e] = [Math.sin(cloth(x, y) * folds * 6.283), 0.012];
    const dx = (Math.sin(cloth(x + e, y) * folds * 6.283) - h) / e;
    const dy = (Math.sin(cloth(x, y + e) * folds * 6.283) - h) / e;
    // The slope of the folds toward a light from above and from the left, as the sine of its angle.
    return (dx * 0.55 + dy * 0.83) / Math.sqrt(dx * dx + dy * dy + 30);
  });
  return shadePainter(frame, palette, tone, light);
}

function shadePainter(
  frame: Frame,
  palette: Palette,
  tone: ReturnType<typeof fieldOf>,
  light: ReturnType<typeof fieldOf>,
): PaintRow {
  const tones = tonesOf(palette);
  const ramp = gradient(tones, silkSteps);
  const [shade, sheen] = [mix(palette.near, [0, 0, 0], 0.25), mix(palette.disc, [255, 255, 255], 0.4)];
  const [values, lights] = [new Float32Array(frame.width), new Float32Array(frame.width)];
  return (y, row) => {
    tone.readRow(y + 0.5, values);
    light.readRow(y + 0.5, lights);
    for (let x = 0, p = 0; p < row.length; x++, p += 3) {
      const lit = lights[x] ?? 0;
      const at = 0.52 + 0.42 * Math.sin((values[x] ?? 0) * 2.6) + 0.2 * lit;
      const c = (((at < 0 ? 0 : at > 1 ? 1 : at) * (silkSteps - 1)) | 0) * 3;
      const dark = lit < 0 ? lit * lit * 0.3 : 0;
      const bright = lit > 0 ? lit * lit * lit * lit * 0.5 : 0;
      for (let i = 0; i < 3; i++) {
        const level = ramp[c + i] ?? 0;
        const shaded = level + ((shade[i] ?? 0) - level) * dark;
        row[p + i] = shaded + ((sheen[i] ?? 0) - shaded) * bright;
      }
    }
  };
}

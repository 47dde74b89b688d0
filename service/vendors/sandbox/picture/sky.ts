import {
  along,
  blend,
  type Frame,
  hazeOf,
  mix,
  type PaintRow,
  type Palette,
  type Rgb,
  shine,
} from './colour.ts';
import { type Dice, fieldOf, fractal, noiseFrom } from './noise.ts';

/** A sun or moon. Its position and its radius are in pixels. */
export interface Disc {
  readonly x: number;
  readonly y: number;
  readonly radius: number;
}

interface Sky {
  readonly paint: PaintRow;
  /** For the reflection in water, where glitter replaces the disc. */
  readonly paintWithoutDisc: PaintRow;
}

/** Paints a sky down to the horizon, in pixels from the top: a glow, clouds, and stars at night. */
export function skyPainter(frame: Frame, palette: Palette, disc: Disc, horizon: number, dice: Dice): Sky {
  const behind = [
    glowPainter(frame, palette, disc),
    ...(palette.night ? [starPainter(frame, horizon, dice)] : []),
  ];
  const paintDisc = discPainter(frame, palette, disc);
  const paintClouds = cloudPainter(frame, palette, horizon, dice);
  const painter =
    (withDisc: boolean): PaintRow =>
    (y, row) => {
      const [red, green, blue] = along(palette.sky, (y + 0.5) / horizon);
      for (let p = 0; p < row.length; p += 3) {
        row[p] = red;
        row[p + 1] = green;
        row[p + 2] = blue;
      }
      for (const paint of behind) paint(y, row);
      if (withDisc) paintDisc(y, row);
      paintClouds(y, row);
    };
  return { paint: painter(true), paintWithoutDisc: painter(false) };
}

const glowSteps = 1 << 14;

/** Paints the glow around the disc, narrow and wide, by a table: exp() would be too slow. */
function glowPainter(frame: Frame, palette: Palette, disc: Disc): PaintRow {
  const reach = frame.unit * 1.6;
  const colour = mix(palette.disc, palette.sky.at(-2) ?? palette.disc, palette.night ? 0.6 : 0.5);
  const strength = palette.name === 'ink' ? 0 : palette.night ? 0.6 : 0.68;
  const table = new Float32Array(glowSteps);
  for (let i = 0; i < glowSteps; i++) {
    const far = Math.max(0, (i / glowSteps) * reach - disc.radius) / frame.unit;
    // The last factor makes the glow end at 0 at its reach, so that no edge is visible.
    table[i] =
      strength * (0.62 * Math.exp(-far * 9) + 0.38 * Math.exp(-far * 2.6)) * (1 - i / glowSteps) ** 2;
  }
  const scale = glowSteps / reach;
  return (y, row) => {
    const below = (y + 0.5 - disc.y) ** 2;
    const half = Math.sqrt(Math.max(0, reach * reach - below)) - 1;
    const [from, to] = [
      Math.max(0, Math.ceil(disc.x - half)),
      Math.min(frame.width, Math.floor(disc.x + half)),
    ];
    for (let x = from, p = from * 3; x < to; x++, p += 3) {
      const aside = x + 0.5 - disc.x;
      shine(row, p, colour, table[(Math.sqrt(aside * aside + below) * scale) | 0] ?? 0);
    }
  };
}

function discPainter(frame: Frame, palette: Palette, disc: Disc): PaintRow {
  const rim = mix(palette.disc, palette.sky.at(-2) ?? palette.disc, palette.name === 'ink' ? 0 : 0.28);
  return (y, row) => {
    const below = y + 0.5 - disc.y;
    if (Math.abs(below) > disc.radius + 1) return;
    const colour = mix(palette.disc, rim, Math.max(0, 0.5 + below / disc.radius / 2));
    const [from, to] = [
      Math.max(0, Math.floor(disc.x - disc.radius - 1)),
      Math.min(frame.width, Math.ceil(disc.x + disc.radius + 1)),
    ];
    for (let x = from; x < to; x++) {
      const inside = disc.radius - Math.hypot(x + 0.5 - disc.x, below) + 0.5;
      if (inside > 0) blend(row, x * 3, colour, Math.min(inside, 1));
    }
  };
}

/** Paints long thin clouds. A cloud stands where noise that is stretched sideways rises above a threshold. */
function cloudPainter(frame: Frame, palette: Palette, horizon: number, dice: Dice): PaintRow {
  const noise = noiseFrom(dice);
  const cover = dice.between(-0.1, 0.25);
  const strength = palette.night ? 0.2 : palette.name === 'ink' ? 0.3 : 0.5;
  const field = fieldOf(frame, 320, (x, y) => {
    const bent = y + 0.05 * noise.plane(x * 1.3 + 40, y * 2);
    return (fractal(noise, x * 0.9, bent * 6.5, 4) + cover) * 0.9;
  });
  const values = new Float32Array(frame.width);
  return (y, row) => {
    field.readRow(y, values);
    // A cloud takes the colour that the sky has farther down, which is paler. A grey cloud would look dirty.
    const colour = mix(along(palette.sky, (y / horizon) * 0.8 + 0.42), palette.disc, 0.12);
    for (let x = 0, p = 0; p < row.length; x++, p += 3) {
      const value = values[x] ?? 0;
      if (value > 0) blend(row, p, colour, (strength * value) / (value + 0.55));
    }
  };
}

/** The position of a star in pixels, its radius in pixels, and its brightness from 0 to 1. */
type Star = readonly [x: number, y: number, radius: number, light: number];

function starPainter(frame: Frame, horizon: number, dice: Dice): PaintRow {
  const byRow = new Map<number, Star[]>();
  const size = frame.unit / 1000;
  for (let i = 0; i < 420; i++) {
    const bright = dice.next() ** 6;
    const [x, y] = [dice.next() * frame.width, dice.next() ** 1.4 * horizon];
    const radius = Math.max(0.55, (0.7 + 1.3 * bright) * size);
    const fading = 1 - (y / horizon) ** 2;
    const star: Star = [x, y, radius, (0.3 + 0.7 * bright) * fading];
    const reach = Math.ceil(radius * 3);
    for (let line = Math.floor(y) - reach; line <= y + reach; line++) {
      byRow.set(line, [...(byRow.get(line) ?? []), star]);
    }
  }
  return (y, row) => {
    for (const star of byRow.get(y) ?? []) paintStar(star, y, row);
  };
}

const starlight: Rgb = [255, 250, 238];

function paintStar([x, y, radius, light]: Star, line: number, row: Float32Array): void {
  const reach = Math.ceil(radius * 3);
  for (
    let column = Math.max(0, Math.floor(x) - reach);
    column <= x + reach && column * 3 < row.length;
    column++
  ) {
    const far = ((column + 0.5 - x) ** 2 + (line + 0.5 - y) ** 2) / (radius * radius);
    blend(row, column * 3, starlight, light * Math.exp(-far));
  }
}

export interface Water {
  /** The pixel row of the far edge of the water. */
  readonly shore: number;
  /** The height of the waves: 0 for a mirror, 1 for the open sea. */
  readonly rough: number;
}

/** Paints the scene above the shore, then its rippled reflection with a path of glitter. */
export function waterPainter(
  frame: Frame,
  palette: Palette,
  above: Sky,
  water: Water,
  disc: Disc,
  dice: Dice,
): PaintRow {
  const { shore, rough } = water;
  const seen = new Uint8ClampedArray(frame.width * shore * 3);
  const noise = noiseFrom(dice);
  // How much of each colour the water swallows, as a negative share. The reflection is multiplied by the
  // rest, because mixing in a dark colour would turn a bright sky grey.
  const deep = mix(palette.near, palette.sky.at(-3) ?? palette.near, 0.55).map(
    (level) => level / 255 - 1,
  ) as [number, number, number];
  const shine = mix(palette.disc, hazeOf(palette), 0.25);
  return (y, row) => {
    if (y < shore) {
      above.paintWithoutDisc(y, row);
      seen.set(row, y * row.length);
      if (Math.abs(y - disc.y) <= disc.radius + 1) above.paint(y, row);
      return;
    }
    const down = (y - shore + 0.5) / (frame.height - shore);
    const mirrored = shore - 1 - (y - shore) * 1.05;
    const sway = (0.004 + (0.05 + 0.13 * rough) * down) * frame.unit;
    const tint = 0.1 + 0.6 * down ** 0.8;
    // Waves are closer together near the horizon. The 0.03 keeps them from becoming thinner than a pixel.
    const band = Math.log(down + 0.03) * 34;
    const wide = 2.2 / (down + 0.09) / frame.unit;
    const path = frame.unit * (0.02 + 0.16 * down) + disc.radius * 0.7;
    const glint = (0.35 + 0.6 * rough) * Math.min(1, down * 30);
    for (let x = 0, p = 0; p < row.length; x++, p += 3) {
      const at = (x - frame.width / 2) * wide;
      const ripple = noise.plane(at, band) + 0.5 * noise.plane(at * 2.3 + 9, band * 2.1);
      const from = mirrored + ripple * sway;
      const beside = x + ripple * sway * 0.2;
      const column = beside < 0 ? 0 : beside > frame.width - 1 ? frame.width - 1 : beside | 0;
      const source = (from < 0 ? 0 : from > shore - 1 ? shore - 1 : from | 0) * row.length + column * 3;
      const dark = tint - 0.2 * ripple * down;
      row[p] = (seen[source] ?? 0) * (1 + deep[0] * dark);
      row[p + 1] = (seen[source + 1] ?? 0) * (1 + deep[1] * dark);
      row[p + 2] = (seen[source + 2] ?? 0) * (1 + deep[2] * dark);
      const aside = (x - disc.x) / path;
      const light = (ripple - 0.1) * (1 - aside * aside * 0.5) * glint;
      if (light > 0 && aside > -1.41 && aside < 1.41) blend(row, p, shine, light < 0.85 ? light : 0.85);
    }
  };
}

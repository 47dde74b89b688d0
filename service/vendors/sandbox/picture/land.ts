import { blend, type Frame, type PaintRow, type Rgb } from './colour.ts';
import { type Dice, type Noise, noiseFrom } from './noise.ts';

/** The height of land above its base, 0 to about 1, at `x` units of the frame from the middle. */
export type Outline = (x: number) => number;

/** Mountains: ridged noise makes sharp peaks and wide valleys, with finer detail on high ground. */
export function peaks(dice: Dice, width: number, rough: number): Outline {
  const noise = noiseFrom(dice);
  const shift = dice.between(0, 90);
  return (x) => {
    let [sum, strength, at, above] = [0, 0.55, x / width + shift, 1];
    for (let octave = 0; octave < 9; octave++) {
      const fold = (1 - Math.abs(noise.line(at))) ** 1.6;
      sum += fold * strength * above;
      above = 0.35 + 0.65 * fold;
      strength *= rough;
      at = at * 2.07 + 11.3;
    }
    return sum;
  };
}

export function hills(dice: Dice, width: number): Outline {
  const noise = noiseFrom(dice);
  const shift = dice.between(0, 90);
  return (x) => {
    const at = x / width + shift;
    return 0.5 + 0.36 * noise.line(at) + 0.14 * noise.line(at * 2.3 + 7) + 0.03 * noise.line(at * 6.1);
  };
}

/** The outline of dunes: a long slope, a short slope on the other side, and a sharp crest. */
export function dunes(dice: Dice, width: number): Outline {
  const noise = noiseFrom(dice);
  const shift = dice.between(0, 90);
  const lee = dice.chance(0.5) ? 0.3 : 0.7;
  return (x) => {
    const at = x / width + shift + 0.22 * noise.line(x / width + 3);
    const cell = Math.floor(at);
    const part = at - cell;
    const rise = part < lee ? part / lee : (1 - part) / (1 - lee);
    const tall = 0.62 + 0.38 * noise.line(cell * 1.37 + 0.5);
    const [before, after] = [0.2 * noise.line(cell * 0.71), 0.2 * noise.line((cell + 1) * 0.71)];
    // The exponent keeps the dune flat at its foot and makes it steep near the crest.
    return 0.2 + before + (after - before) * part + tall * 0.75 * rise ** 1.7;
  };
}

/**
 * The outline of conifers that stand on other land.
 *
 * @param tall the greatest height of a tree, in the measure of the outline
 * @param spacing the distance from one tree to the next, in units of the frame
 */
export function conifers(dice: Dice, ground: Outline, tall: number, spacing: number): Outline {
  const noise = noiseFrom(dice);
  return (x) => {
    let top = 0;
    const middle = Math.floor(x / spacing);
    for (let i = middle - 2; i <= middle + 2; i++) top = Math.max(top, conifer(noise, i, x / spacing - i));
    return ground(x) + tall * top;
  };
}

/** The height of tree `i`, 0 to 1, at an offset, in spacings, from its position in an even row. */
function conifer(noise: Noise, i: number, offset: number): number {
  const own = (salt: number) => 0.5 + 0.5 * noise.line(i * 0.613 + salt + 0.31);
  // The second factor changes slowly and makes groves and clearings. The first makes each tree taller or
  // shorter than its neighbours.
  const size = (0.3 + 0.7 * own(5)) * (0.72 + 0.4 * noise.line(i * 0.09));
  const aside = offset - own(60);
  const beside = Math.abs(aside) / (0.2 + 0.6 * size);
  if (beside >= 1) return 0;
  // A tree has many short boughs. The boughs on its left and on its right begin at different heights.
  const bough = (beside * 9 + own(aside < 0 ? 90 : 120)) % 1;
  return Math.max(0, size * (1 - beside ** 0.8 + 0.075 * (bough - 0.5) * Math.min(1, beside * 6)));
}

/** The outline in pixels from the top, by column: 0 is `base` above the lower edge, 1 `scale` higher. */
export function topsOf(frame: Frame, outline: Outline, base: number, scale: number): Float32Array {
  const tops = new Float32Array(frame.width);
  for (let x = 0; x < frame.width; x++)
    tops[x] = frame.height - base - scale * outline((x + 0.5 - frame.width / 2) / frame.unit);
  return tops;
}

/** How the disc lights a ridge: the slopes that face the disc are lit, and the other slopes lie in shade. */
export interface Relief {
  readonly light: Rgb;
  /** The greatest share of the light's colour in the land's colour, 0 to 1. */
  readonly strength: number;
  /** How far the edge between light and shade leans, in pixels sideways for each pixel down. */
  readonly lean: number;
  /** The depth below the ridge's line at which a quarter of the light remains, in pixels. */
  readonly fade: number;
  /** 1 when the disc stands in the right half of the picture, and -1 when it stands in the left half. */
  readonly side: 1 | -1;
  /** The distance of a slope, in units of the frame: small for rocks, large for a mountain's faces. */
  readonly grain: number;
}

/** Lightens the given colour, which lies in column `x` and `under` pixels below the ridge's line. */
export type Shader = (colour: [number, number, number], x: number, under: number) => void;

/**
 * Makes the shader of a ridge. A ridge has an outline and no other shape, so the outline decides the light. A
 * column is lit when the slope of the outline above it faces the disc. The border between light and shade
 * moves sideways with depth. On a peak, this border looks like the sharp edge between two faces of the
 * mountain.
 */
function reliefShader(tops: Float32Array, relief: Relief, frame: Frame): Shader {
  const { light, fade } = relief;
  const lean = -relief.side * relief.lean;
  const lit = litColumns(tops, relief, frame);
  const last = lit.length - 1;
  return (colour, x, under) => {
    const at = x + lean * under;
    const held = at < 0 ? 0 : at > last - 1 ? last - 1 : at;
    const column = held | 0;
    const left = lit[column] ?? 0;
    // The light is interpolated between two columns. Without this, the leaning border would look like stairs.
    const reach = fade / (under + fade);
    const shine = (left + ((lit[column + 1] ?? 0) - left) * (held - column)) * reach * reach;
    colour[0] += (light[0] - colour[0]) * shine;
    colour[1] += (light[1] - colour[1]) * shine;
    colour[2] += (light[2] - colour[2]) * shine;
  };
}

function litColumns(tops: Float32Array, relief: Relief, frame: Frame): Float32Array {
  const reach = Math.max(1, Math.round(frame.unit * relief.grain));
  const end = tops.length - 1;
  return tops.map((_, x) => {
    const [right, left] = [Math.min(end, x + reach), Math.max(0, x - reach)];
    const rise = ((tops[right] ?? 0) - (tops[left] ?? 0)) / Math.max(1, right - left);
    // The sigmoid makes a clear edge at the crest, and an even light on each slope.
    return relief.strength * (0.5 + 0.5 * Math.tanh(relief.side * rise * 4 + 0.1));
  });
}

/** A layer of land. It covers everything below a line that rises and falls. */
export interface Ridge {
  /** The distance of the line from the picture's upper edge, in pixels, for each column. */
  readonly tops: Float32Array;
  /** The colour right below the line. */
  readonly crest: Rgb;
  /** The colour far below the line, where mist lies. */
  readonly foot: Rgb;
  /** The depth below the line at which the colour is half crest and half foot, in pixels. */
  readonly fade: number;
  /** The line for depth, in pixels from the top, or `tops`: a forest's mist follows its ground. */
  readonly ground?: Float32Array;
  readonly relief?: Relief;
}

/** Several layers of land. From the pixel row `hidesFrom` downward, they hide everything behind them. */
export interface Land {
  readonly paint: PaintRow;
  readonly hidesFrom: number;
}

/** An edge is smoothed over at most this many rows, at its steepest. It hides layers only below them. */
const steepest = 8;

/** Paints ridges, from far to near, over a row with colours. Hidden pixels are not painted. */
export function landPainter(frame: Frame, ridges: readonly Ridge[]): Land {
  const hidden = new Float32Array(frame.width).fill(frame.height);
  const painters: PaintRow[] = [];
  for (const ridge of ridges.toReversed()) {
    painters.unshift(ridgePainter(frame, ridge, hidden.slice()));
    for (let x = 0; x < hidden.length; x++)
      hidden[x] = Math.min(hidden[x] ?? 0, (ridge.tops[x] ?? 0) + steepest);
  }
  return {
    paint: (y, row) => {
      for (const paint of painters) paint(y, row);
    },
    hidesFrom: hidden.reduce((most, row) => Math.max(most, row), 0),
  };
}

function ridgePainter(frame: Frame, ridge: Ridge, hidden: Float32Array): PaintRow {
  const { tops, crest, foot, fade, ground = tops } = ridge;
  const highest = tops.reduce((least, top) => Math.min(least, top), Infinity);
  const lowest = hidden.reduce((most, row) => Math.max(most, row), 0);
  const edge = edgeOf(tops);
  const shade = ridge.relief && reliefShader(tops, ridge.relief, frame);
  const colour: [number, number, number] = [0, 0, 0];
  return (y, row) => {
    if (y + steepest < highest || y > lowest) return;
    for (let x = 0, p = 0; p < row.length; x++, p += 3) {
      if (y > (hidden[x] ?? 0)) continue;
      const depth = y + 0.5 - (tops[x] ?? 0);
      const cover = depth * (edge[x] ?? 1) + 0.5;
      if (cover <= 0) continue;
      const sunk = y + 0.5 - (ground[x] ?? 0);
      const under = sunk > 0 ? sunk : 0;
      const part = under / (under + fade);
      colour[0] = crest[0] + (foot[0] - crest[0]) * part;
      colour[1] = crest[1] + (foot[1] - crest[1]) * part;
      colour[2] = crest[2] + (foot[2] - crest[2]) * part;
      shade?.(colour, x, under);
      blend(row, p, colour, cover < 1 ? cover : 1);
    }
  };
}

/** The growth of a ridge's opacity by row at its edge, for each column: steeper lines are nearer. */
function edgeOf(tops: Float32Array): Float32Array {
  return tops.map((top, x) => {
    const slope = ((tops[x + 1] ?? top) - (tops[x - 1] ?? top)) / 2;
    return 1 / Math.sqrt(1 + Math.min(slope * slope, steepest * steepest));
  });
}

import type { Rgb } from './colour.ts';
import type { Frame } from './frame.ts';

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
  /**
   * The distance over which a slope is measured, in units of the frame. A small distance shows small rocks. A
   * large distance shows whole faces of a mountain.
   */
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
export function reliefShader(tops: Float32Array, relief: Relief, frame: Frame): Shader {
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

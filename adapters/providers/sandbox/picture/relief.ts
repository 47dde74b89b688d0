import type { Rgb } from './colour.ts';
import type { Frame } from './frame.ts';

/** Light on the slopes that face the disc, and shade on those that do not. */
export interface Relief {
  readonly light: Rgb;
  /** The most that light may take, 0 to 1. */
  readonly strength: number;
  /** How far the edge between light and shade leans, in pixels sideways for each pixel down. */
  readonly lean: number;
  /** Pixels below the line at which three quarters of the light are gone. */
  readonly fade: number;
  /** 1 where the sun stands to the right, -1 to the left. */
  readonly side: 1 | -1;
  /** Units over which a slope is measured: small for crags, large for faces. */
  readonly grain: number;
}

/** Lightens a colour, in place, at column `x` and `under` pixels below the ridge's line. */
export type Shader = (colour: [number, number, number], x: number, under: number) => void;

/**
 * A ridge knows only its outline, so its faces are drawn from that: a column is lit as the outline's slope
 * above it faces the disc, and the pattern leans with depth. On a peak this reads as the arête between its
 * two faces.
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
    // Between two columns: without it the leaning edge is a stair.
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
    // A sigmoid: the crest is a clear edge, the slope itself is even.
    return relief.strength * (0.5 + 0.5 * Math.tanh(relief.side * rise * 4 + 0.1));
  });
}

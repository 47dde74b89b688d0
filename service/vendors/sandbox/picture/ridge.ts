import { blend } from './blend.ts';
import type { Rgb } from './colour.ts';
import type { Frame, PaintRow } from './frame.ts';
import { type Relief, reliefShader } from './relief.ts';

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
  /**
   * The line from which depth is measured, in pixels from the upper edge. Without this line, depth is
   * measured from `tops`. A forest has it, because its mist follows the ground and not the tops of the trees.
   */
  readonly ground?: Float32Array;
  readonly relief?: Relief;
}

/** Several layers of land. From the pixel row `hidesFrom` downward, they hide everything behind them. */
export interface Land {
  readonly paint: PaintRow;
  readonly hidesFrom: number;
}

/**
 * The edge of a ridge is smoothed over at most this many rows, which is the case where the edge is steepest.
 * A ridge hides the layers behind it only below these rows.
 */
const steepest = 8;

/**
 * Paints ridges over a row that already has colours. The ridges are given from far to near. A pixel that a
 * nearer ridge hides is not painted.
 */
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

/**
 * How much the opacity of a ridge grows from one row to the next at its edge, for each column. The opacity
 * follows the distance to the line. This distance is shorter than the vertical distance where the line is
 * steep.
 */
function edgeOf(tops: Float32Array): Float32Array {
  return tops.map((top, x) => {
    const slope = ((tops[x + 1] ?? top) - (tops[x - 1] ?? top)) / 2;
    return 1 / Math.sqrt(1 + Math.min(slope * slope, steepest * steepest));
  });
}

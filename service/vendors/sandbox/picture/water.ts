import { blend } from './blend.ts';
import { mix } from './colour.ts';
import type { Dice } from './dice.ts';
import type { Frame, PaintRow } from './frame.ts';
import { noiseFrom } from './noise.ts';
import { hazeOf, type Palette } from './palette.ts';
import type { Disc, Sky } from './sky.ts';

/** A surface of water. */
export interface Water {
  /** The pixel row of the far edge of the water. */
  readonly shore: number;
  /** The height of the waves: 0 for a mirror, 1 for the open sea. */
  readonly rough: number;
}

/**
 * Paints the scene above the shore and keeps its rows. Below the shore, it paints the reflection of these
 * rows, which ripples bend, and a path of glitter under the disc.
 */
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

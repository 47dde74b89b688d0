import type { Rgb } from './colour.ts';

/**
 * Mixes a colour into the pixel that begins at index `p` of the row. A pixel has three floats. `part` is the
 * share of the new colour, 0 to 1.
 *
 * This function runs for every pixel of every layer. It reads colours by index, because destructuring would
 * run an iterator each time.
 */
export function blend(row: Float32Array, p: number, colour: Rgb, part: number): void {
  const red = row[p] ?? 0;
  const green = row[p + 1] ?? 0;
  const blue = row[p + 2] ?? 0;
  row[p] = red + (colour[0] - red) * part;
  row[p + 1] = green + (colour[1] - green) * part;
  row[p + 2] = blue + (colour[2] - blue) * part;
}

/**
 * Adds light to the pixel that begins at index `p`, as if two projectors shone on one screen. The result is
 * never brighter than white.
 */
export function shine(row: Float32Array, p: number, light: Rgb, part: number): void {
  const red = row[p] ?? 0;
  const green = row[p + 1] ?? 0;
  const blue = row[p + 2] ?? 0;
  row[p] = red + (255 - red) * light[0] * part * (1 / 255);
  row[p + 1] = green + (255 - green) * light[1] * part * (1 / 255);
  row[p + 2] = blue + (255 - blue) * light[2] * part * (1 / 255);
}

/**
 * Red, green and blue as sRGB levels from 0 to 255. The levels keep their fractions until `develop.ts` adds
 * the grain and rounds them.
 */
export type Rgb = readonly [number, number, number];

/**
 * A colour in OKLab (Björn Ottosson, 2020): its lightness from 0 to 1, its place between green and red, and
 * its place between blue and yellow.
 */
type Lab = readonly [number, number, number];

/** Reads `#rrggbb`. */
export function rgb(hex: string): Rgb {
  const value = Number.parseInt(hex.slice(1), 16);
  return [(value >> 16) & 255, (value >> 8) & 255, value & 255];
}

/**
 * Mixes two colours in OKLab. A part of 0 gives the first colour, and 1 gives the second. Equal steps of the
 * part look equal to the eye, and a mix of blue and orange does not turn grey.
 */
export function mix(from: Rgb, to: Rgb, part: number): Rgb {
  const [a, b] = [toLab(from), toLab(to)];
  return fromLab([a[0] + (b[0] - a[0]) * part, a[1] + (b[1] - a[1]) * part, a[2] + (b[2] - a[2]) * part]);
}

/** How light the eye sees a colour, from 0 (black) to 1 (white). */
export function lightness(colour: Rgb): number {
  return toLab(colour)[0];
}

/** A table of `size` colours with three floats each. The table runs through the stops in equal steps. */
export function gradient(stops: readonly Rgb[], size: number): Float32Array {
  const table = new Float32Array(size * 3);
  for (let i = 0; i < size; i++) table.set(along(stops, i / (size - 1)), i * 3);
  return table;
}

/** The colour at a place in a row of stops. A part of 0 is the first stop, and 1 is the last stop. */
export function along(stops: readonly Rgb[], part: number): Rgb {
  const at = Math.min(Math.max(part, 0), 1) * (stops.length - 1);
  const from = stops[Math.floor(at)] ?? pureBlack;
  const to = stops[Math.floor(at) + 1] ?? from;
  const rest = at - Math.floor(at);
  // The steps are not quite even between two stops. With even steps, the eye would see a faint line across
  // the sky at each stop.
  return mix(from, to, stops.length > 2 ? rest * (0.5 + rest * (1.5 - rest)) : rest);
}

const pureBlack: Rgb = [0, 0, 0];

function toLab([red, green, blue]: Rgb): Lab {
  const [r, g, b] = [toLinear(red), toLinear(green), toLinear(blue)];
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
  ];
}

function fromLab([lightness, a, b]: Lab): Rgb {
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return [
    fromLinear(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
    fromLinear(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
    fromLinear(-0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s),
  ];
}

function toLinear(level: number): number {
  const value = level / 255;
  return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
}

function fromLinear(value: number): number {
  if (value <= 0) return 0;
  return Math.min(255, 255 * (value <= 0.0031308 ? value * 12.92 : 1.055 * value ** (1 / 2.4) - 0.055));
}

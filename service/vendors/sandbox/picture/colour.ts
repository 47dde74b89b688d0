/** Red, green and blue as sRGB levels, 0 to 255. They have fractions until `develop.ts` rounds them. */
export type Rgb = readonly [number, number, number];

/** A colour in OKLab (Björn Ottosson, 2020): lightness 0 to 1, green to red, blue to yellow. */
type Lab = readonly [number, number, number];

function rgb(hex: string): Rgb {
  const value = Number.parseInt(hex.slice(1), 16);
  return [(value >> 16) & 255, (value >> 8) & 255, value & 255];
}

/** Mixes two colours in OKLab, 0 for the first, 1 for the second: even steps, and no grey. */
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

/** The colour at a position in a row of stops. A part of 0 is the first stop, and 1 is the last stop. */
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

/** Adds light to the pixel at index `p`, as a second projector would. Never brighter than white. */
export function shine(row: Float32Array, p: number, light: Rgb, part: number): void {
  const red = row[p] ?? 0;
  const green = row[p + 1] ?? 0;
  const blue = row[p + 2] ?? 0;
  row[p] = red + (255 - red) * light[0] * part * (1 / 255);
  row[p + 1] = green + (255 - green) * light[1] * part * (1 / 255);
  row[p + 2] = blue + (255 - blue) * light[2] * part * (1 / 255);
}

/** The size of a picture, and the length in which its motif is measured. */
export interface Frame {
  /** Pixels. */
  readonly width: number;
  /** Pixels. */
  readonly height: number;
  /**
   * The length 1 of a motif, in pixels. It lies between the shorter and the longer side of the picture. With
   * the shorter side alone, a motif would be too small in a banner. With the longer side alone, the motif
   * would be larger than the banner.
   */
  readonly unit: number;
}

/** Paints the pixel row `y` into `row`, three floats a pixel, sRGB 0 to 255, from top to bottom. */
export type PaintRow = (y: number, row: Float32Array) => void;

/** The frame of a picture whose sides have this many pixels. */
export function frameOf(width: number, height: number): Frame {
  return { width, height, unit: Math.min(width, height) ** 0.7 * Math.max(width, height) ** 0.3 };
}

export interface Palette {
  readonly name: PaletteName;
  /** The colours of the sky, from its top to the horizon. */
  readonly sky: readonly Rgb[];
  readonly disc: Rgb;
  /** The colour of land at the horizon. The air makes distant land pale. */
  readonly far: Rgb;
  /** The colour of land at the viewer's feet. It is the darkest colour of the palette. */
  readonly near: Rgb;
  readonly accent: Rgb;
  /** Whether the picture shows a night: it has stars, and a moon instead of a sun. */
  readonly night: boolean;
}

export type PaletteName =
  | 'dawn'
  | 'ember'
  | 'midnight'
  | 'boreal'
  | 'glacier'
  | 'sage'
  | 'sahara'
  | 'lagoon'
  | 'blossom'
  | 'harvest'
  | 'ink';

type Row = readonly [sky: string, disc: string, far: string, near: string, accent: string];

const table: Readonly<Record<PaletteName, Row>> = {
  dawn: ['#34507e #7f93bd #d9b3bd #f8cdb0 #fde6c4', '#fff6e0', '#c4a3b6', '#242746', '#f0876a'],
  ember: ['#2a1a4c #7c2a63 #d9505a #fb8f55 #ffd48a', '#fff1c9', '#cf6260', '#1b1030', '#ff9d4d'],
  midnight: ['#060a22 #0e1d45 #24427a #5f7fb4 #a9b7d2', '#fbf6e4', '#54709f', '#050918', '#f0cb80'],
  boreal: ['#040917 #06152c #0a2b42 #145058 #3a8480', '#eefcf2', '#1f5661', '#020b13', '#58f0ae'],
  glacier: ['#5b8fbf #8fb8da #c4ddec #e9f1f3 #fbf3ea', '#ffffff', '#b4cfe2', '#274a68', '#f2a285'],
  sage: ['#7fa79f #aac6b4 #d5dec2 #f0ebcf #fbf1d6', '#fffbe9', '#a7bfa8', '#0f2b28', '#dc8f4c'],
  sahara: ['#3f8496 #86b5b4 #d3d7b8 #f6d9a6 #fbc58a', '#fff6dd', '#e8ad76', '#6b2a1e', '#1e6d78'],
  lagoon: ['#0f4766 #2b8299 #75bfbd #c9e2c9 #ffeac6', '#fff8e2', '#64a9ae', '#08293d', '#ff8b6b'],
  blossom: ['#6c78b0 #a79fcb #e0b4cb #f8cdd0 #feebdf', '#fffaf4', '#c9a2bd', '#33254a', '#e4577c'],
  harvest: ['#50666f #94a095 #d6c294 #f2d697 #fae6ba', '#fff7df', '#c88f57', '#33181a', '#bd4629'],
  ink: ['#c3c2bd #d7d5cd #e6e3da #efece3 #f6f3ea', '#d8432a', '#b9b8b2', '#1b1e24', '#d8432a'],
};

const nights: readonly PaletteName[] = ['midnight', 'boreal'];

export const paletteNames = Object.keys(table) as [PaletteName, ...PaletteName[]];

export function paletteOf(name: PaletteName): Palette {
  const [sky, disc, far, near, accent] = table[name];
  return {
    name,
    sky: sky.split(' ').map(rgb),
    disc: rgb(disc),
    far: rgb(far),
    near: rgb(near),
    accent: rgb(accent),
    night: nights.includes(name),
  };
}

export function hazeOf(palette: Palette): Rgb {
  return palette.sky.at(-1) ?? palette.far;
}

/** The colours of the abstract motifs, from dark to light: the palette without the disc's. */
export function tonesOf(palette: Palette): Rgb[] {
  return [palette.near, ...palette.sky, palette.far, palette.accent].sort(
    (a, b) => lightness(a) - lightness(b),
  );
}

import { lightness, rgb, type Rgb } from './colour.ts';

/** The colours of one picture. */
export interface Palette {
  readonly name: PaletteName;
  /** The colours of the sky, from its top to the horizon. */
  readonly sky: readonly Rgb[];
  /** The colour of the sun or moon. */
  readonly disc: Rgb;
  /** The colour of land at the horizon. The air makes distant land pale. */
  readonly far: Rgb;
  /** The colour of land at the viewer's feet. It is the darkest colour of the palette. */
  readonly near: Rgb;
  /** The one colour that stands out. */
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

/** Every palette's name. */
export const paletteNames = Object.keys(table) as [PaletteName, ...PaletteName[]];

/** The palette with this name. */
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

/** The colour of air at the horizon. */
export function hazeOf(palette: Palette): Rgb {
  return palette.sky.at(-1) ?? palette.far;
}

/**
 * The colours with which the abstract motifs paint, from dark to light: all of the palette but the disc's.
 */
export function tonesOf(palette: Palette): Rgb[] {
  return [palette.near, ...palette.sky, palette.far, palette.accent].sort(
    (a, b) => lightness(a) - lightness(b),
  );
}

import { auroraPainter } from './aurora.ts';
import { type Frame, hazeOf, mix, type PaintRow, type Palette, type Rgb } from './colour.ts';
import {
  conifers,
  dunes,
  hills,
  landPainter,
  type Outline,
  peaks,
  type Relief,
  type Ridge,
  topsOf,
} from './land.ts';
import type { Dice } from './noise.ts';
import { type Disc, skyPainter, waterPainter } from './sky.ts';

export type Scenery = 'mountains' | 'forest' | 'dunes' | 'sea' | 'aurora';

interface Layer {
  readonly outline: Outline;
  /** The outline of the ground below the trees. Layers without trees have none. */
  readonly ground?: Outline;
  /** The height of the outline's 0, as a share of the picture's height from the lower edge. */
  readonly base: number;
  /** The outline's 1, as a share of the geometric mean of the height and the frame's unit. */
  readonly rise: number;
}

/** The parts of a landscape. Layers are listed from far to near. */
export interface Scene {
  /** The layers behind the water. In a landscape without water, these are all layers. */
  readonly behind: readonly Layer[];
  /** The layers between the water and the viewer. */
  readonly before: readonly Layer[];
  /** The distance of the far shore from the lower edge, as a share of the height, if there is water. */
  readonly shore?: number;
  /** How rough the water is, 0 to 1. */
  readonly rough: number;
  /** The strength of light and shade on the land, 0 to 1. */
  readonly relief: number;
}

type Parts = (part: string) => Dice;

function sceneryOf(scenery: Scenery, dice: Parts): Scene {
  const shore = dice('shore').between(0.27, 0.36);
  const wet = dice('lake').chance(0.45);
  switch (scenery) {
    case 'mountains':
      return wet
        ? {
            behind: layers(4, shore - 0.05, shore + 0.14, range, dice),
            before: [bank(dice)],
            shore,
            rough: 0.1,
            relief: 0.38,
          }
        : { behind: [...layers(6, -0.1, 0.36, range, dice), bank(dice)], before: [], rough: 0, relief: 0.38 };
    case 'forest':
      return wet
        ? {
            behind: layers(4, shore - 0.04, shore + 0.17, wood, dice),
            before: [bank(dice)],
            shore,
            rough: 0.1,
            relief: 0,
          }
        : { behind: layers(6, -0.16, 0.38, wood, dice), before: [], rough: 0, relief: 0 };
    case 'dunes':
      return { behind: layers(5, -0.12, 0.3, dune, dice), before: [], rough: 0, relief: 0.75 };
    case 'sea':
      return {
        behind: layers(2, shore - 0.045, shore - 0.015, island, dice),
        before: [],
        shore: shore + 0.08,
        rough: 1,
        relief: 0.38,
      };
    case 'aurora':
      return {
        behind: layers(3, shore - 0.05, shore + 0.02, range, dice),
        before: [bank(dice)],
        shore,
        rough: 0.15,
        relief: 0.38,
      };
  }
}

/** Makes a layer of one kind of land at a distance between 0 (far) and 1 (near). */
type Kind = (dice: Dice, near: number) => Omit<Layer, 'base'>;

function layers(count: number, low: number, high: number, kind: Kind, dice: Parts): Layer[] {
  return Array.from({ length: count }, (_, i) => {
    const near = count === 1 ? 1 : i / (count - 1);
    return { ...kind(dice(`layer ${i}`), near), base: high + (low - high) * near };
  });
}

const range: Kind = (dice, near) => ({
  outline: peaks(dice, 0.66 - 0.16 * near, 0.46),
  rise: 0.26 - 0.05 * near,
});

const wood: Kind = (dice, near) => {
  const size = 0.1 + 0.75 * near ** 1.6;
  const ground = hills(dice, 0.8);
  return { outline: conifers(dice, ground, size, 0.008 + 0.042 * near ** 1.6), ground, rise: 0.2 };
};

const dune: Kind = (dice, near) => ({ outline: dunes(dice, 0.7 + 0.5 * near), rise: 0.14 + 0.2 * near });

const island: Kind = (dice, near) => ({ outline: peaks(dice, 0.9, 0.4), rise: 0.17 - 0.04 * near });

/** The dark bank with trees where the viewer stands. It gives the landscape its depth. */
function bank(dice: Parts): Layer {
  const ground = hills(dice('bank'), 0.9);
  return { outline: conifers(dice('bank trees'), ground, 0.85, 0.042), ground, base: -0.08, rise: 0.2 };
}

/** Paints a landscape like a poster: sky, disc, layers of land paler with distance, maybe water. */
export function landscapePainter(
  frame: Frame,
  palette: Palette,
  scenery: Scenery,
  dice: (part: string) => Dice,
): PaintRow {
  const disc = discOf(frame, palette, scenery, dice('disc'));
  const { behind, before, shore, rough, relief } = sceneryOf(scenery, dice);
  const horizon = frame.height * (1 - (shore ?? 0.3));
  const ridges = [...behind, ...before].map((layer, i, all) =>
    ridgeOf({ frame, palette, disc, relief }, layer, (i + 0.4) / (all.length - 0.6)),
  );
  const sky = skyPainter(frame, palette, disc, horizon, dice('sky'));
  const lights = scenery === 'aurora' ? auroraPainter(frame, palette, horizon, dice('aurora')) : undefined;
  const far = landPainter(frame, ridges.slice(0, behind.length));
  const near = landPainter(frame, ridges.slice(behind.length));
  const under =
    (paintSky: PaintRow): PaintRow =>
    (y, row) => {
      if (y <= far.hidesFrom) {
        paintSky(y, row);
        lights?.(y, row);
      }
      far.paint(y, row);
    };
  const above = { paint: under(sky.paint), paintWithoutDisc: under(sky.paintWithoutDisc) };
  const lower =
    shore === undefined
      ? above.paint
      : waterPainter(frame, palette, above, { shore: Math.round(horizon), rough }, disc, dice('water'));
  return (y, row) => {
    if (y <= near.hidesFrom) lower(y, row);
    near.paint(y, row);
  };
}

/** The highest and the lowest position of the disc, as shares of the picture's height from the top. */
const discHeights: Readonly<Record<Scenery, readonly [number, number]>> = {
  mountains: [0.24, 0.42],
  forest: [0.26, 0.42],
  dunes: [0.26, 0.44],
  sea: [0.3, 0.52],
  aurora: [0.1, 0.2],
};

function discOf(frame: Frame, palette: Palette, scenery: Scenery, dice: Dice): Disc {
  const aside = dice.between(0.1, 0.24) * (dice.chance(0.5) ? 1 : -1);
  const [high, low] = discHeights[scenery];
  const size = palette.night ? dice.between(0.035, 0.06) : dice.between(0.07, 0.125);
  return {
    x: frame.width * (0.5 + aside),
    y: frame.height * dice.between(high, low),
    radius: frame.unit * (scenery === 'aurora' ? 0.022 : size),
  };
}

interface Light {
  readonly frame: Frame;
  readonly palette: Palette;
  readonly disc: Disc;
  readonly relief: number;
}

/** The ridge of a layer. `near`: 0 at the horizon to 1 at the feet. Far land is paler, in mist. */
function ridgeOf(light: Light, layer: Layer, near: number): Ridge {
  const { frame, palette } = light;
  // The height of the picture counts beside the unit, so a tall picture gets tall mountains.
  const scale = layer.rise * Math.sqrt(frame.unit * frame.height);
  const crest = mix(palette.far, palette.near, near ** 0.85);
  const foot = mix(crest, mix(hazeOf(palette), palette.far, 0.25), 0.72 * (1 - near) + 0.08);
  const base = layer.base * frame.height;
  const ridge = {
    tops: topsOf(frame, layer.outline, base, scale),
    crest,
    foot,
    fade: frame.unit * (0.08 + 0.12 * near),
  };
  if (layer.ground) return { ...ridge, ground: topsOf(frame, layer.ground, base + 0.1 * scale, scale) };
  return light.relief > 0 ? { ...ridge, relief: reliefOf(light, near, crest) } : ridge;
}

function reliefOf({ frame, palette, disc, relief }: Light, near: number, crest: Rgb): Relief {
  const dunes = relief > 0.5;
  return {
    light: mix(crest, mix(palette.far, hazeOf(palette), dunes ? 0.45 : 0.5), 0.75),
    strength: relief * (1 - 0.45 * near),
    lean: dunes ? 0.7 : 0.4,
    fade: frame.unit * (dunes ? 0.8 : 0.1),
    side: disc.x > frame.width / 2 ? 1 : -1,
    grain: dunes ? 0.003 : 0.022,
  };
}

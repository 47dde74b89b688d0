import { auroraPainter } from './aurora.ts';
import { mix, type Rgb } from './colour.ts';
import type { Dice } from './dice.ts';
import type { Frame, PaintRow } from './frame.ts';
import { topsOf } from './land.ts';
import { hazeOf, type Palette } from './palette.ts';
import type { Relief } from './relief.ts';
import { landPainter, type Ridge } from './ridge.ts';
import { type Layer, type Scenery, sceneryOf } from './scenery.ts';
import { type Disc, skyPainter } from './sky.ts';
import { waterPainter } from './water.ts';

/**
 * Paints a landscape in the style of a poster: a sky, the disc of a sun or moon, and layers of land that grow
 * paler with distance. Some landscapes have a lake or the sea.
 */
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

/** The highest and the lowest place of the disc, as shares of the picture's height from the top. */
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

/**
 * The ridge of one layer of land. `near` runs from 0 at the horizon to 1 at the viewer's feet. Land that is
 * far away is paler, and more of it lies in mist.
 */
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

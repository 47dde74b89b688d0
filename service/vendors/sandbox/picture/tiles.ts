import { type Frame, lightness, mix, type PaintRow, type Palette, type Rgb, tonesOf } from './colour.ts';
import { type Dice, diceFor } from './noise.ts';

interface Tile {
  readonly figure: Figure;
  /** The number of quarter turns of the figure, 0 to 3. */
  readonly turn: number;
  readonly ground: Rgb;
  readonly ink: Rgb;
}

/** The distance to a figure's edge, in sides of a tile (0 to 1 both ways). Negative inside. */
type Figure = (u: number, v: number) => number;

const figures: readonly [Figure, ...Figure[]] = [
  (u, v) => Math.hypot(u, v) - 1,
  (u, v) => Math.hypot(u - 0.5, v) - 0.5,
  (u, v) => Math.hypot(u - 0.5, v - 0.5) - 0.36,
  (u, v) => Math.max(Math.hypot(u, v) - 1, Math.hypot(u - 1, v - 1) - 1),
  (u, v) => Math.abs(Math.hypot(u, v) - 0.66) - 0.17,
  (u, v) =>
    Math.abs(((Math.hypot(u, v) * 4 + 0.5) % 1) - 0.5) / 4 - 0.062 + Math.max(0, Math.hypot(u, v) - 1),
  (u, v) => (u + v - 1) / Math.SQRT2,
  (u, v) => Math.min(Math.hypot(u - 0.5, v) - 0.5, Math.hypot(u - 0.5, v - 1) - 0.5),
];

/** Paints a pattern of square tiles with quarter circles, arches and leaves, in a few flat colours. */
export function tilePainter(frame: Frame, palette: Palette, dice: Dice): PaintRow {
  const side = frame.unit / dice.pick([4, 5, 6]);
  // The pattern is centred, so the tiles at opposite edges of the picture are cut equally.
  const [left, top] = [offset(frame.width, side), offset(frame.height, side)];
  const salt = dice.below(2 ** 31);
  const colours = coloursOf(palette);
  const known = new Map<string, Tile>();
  const tileAt = (column: number, line: number): Tile => {
    const key = `${column} ${line}`;
    const tile = known.get(key) ?? throwTile(diceFor(key, salt, 'tile'), colours);
    known.set(key, tile);
    return tile;
  };
  return (y, row) => {
    const v = (y + 0.5 - top) / side;
    const line = Math.floor(v);
    const lastColumn = Math.floor((frame.width - left) / side);
    for (let column = Math.floor(-left / side); column <= lastColumn; column++) {
      const from = Math.max(0, Math.round(left + column * side));
      const to = Math.min(frame.width, Math.round(left + (column + 1) * side));
      paintTile(row, tileAt(column - middle(frame.width, side), line - middle(frame.height, side)), {
        from,
        to,
        v: v - line,
        side,
        start: left + column * side,
      });
    }
  };
}

interface Span {
  readonly from: number;
  readonly to: number;
  readonly v: number;
  readonly side: number;
  readonly start: number;
}

function paintTile(row: Float32Array, tile: Tile, { from, to, v, side, start }: Span): void {
  for (let x = from; x < to; x++) {
    const u = (x + 0.5 - start) / side;
    const [a, b] = turned(u, v, tile.turn);
    const inside = 0.5 - tile.figure(a, b) * side;
    const cover = inside < 0 ? 0 : inside > 1 ? 1 : inside;
    // Each tile gets slightly darker from its upper left corner to its lower right corner, so that it looks
    // like print and not like a filled shape.
    const breath = (u + v - 1) * -5;
    for (let i = 0; i < 3; i++) {
      const ground = tile.ground[i] ?? 0;
      row[x * 3 + i] = ground + ((tile.ink[i] ?? 0) - ground) * cover + breath;
    }
  }
}

function turned(u: number, v: number, turn: number): [number, number] {
  const [a, b] = turn & 1 ? [1 - v, u] : [u, v];
  return turn & 2 ? [1 - a, 1 - b] : [a, b];
}

function throwTile(dice: Dice, colours: readonly [Rgb, ...Rgb[]]): Tile {
  const ground = dice.pick(colours);
  // A ground and a figure of the same lightness flicker, and a nearly white figure on a nearly white ground
  // cannot be seen.
  const apart = colours.filter((colour) => Math.abs(lightness(colour) - lightness(ground)) > 0.13);
  return {
    figure: dice.pick(figures),
    turn: dice.below(4),
    ground,
    ink: dice.pick([apart[0] ?? colours[0], ...apart.slice(1)]),
  };
}

function coloursOf(palette: Palette): [Rgb, ...Rgb[]] {
  const tones = tonesOf(palette);
  const light = tones.at(-1) ?? palette.disc;
  return [
    mix(light, [255, 255, 255], 0.3),
    light,
    palette.near,
    palette.accent,
    palette.far,
    palette.sky[1] ?? palette.far,
  ];
}

function middle(length: number, side: number): number {
  return Math.round(length / side / 2);
}

function offset(length: number, side: number): number {
  return length / 2 - middle(length, side) * side;
}

import { type Frame, mix, type PaintRow, type Palette, type Rgb, tonesOf } from './colour.ts';
import { type Dice, fieldOf, noiseFrom } from './noise.ts';

/** Paints sheets of paper, each cut along a contour of hilly land, with a soft shadow below. */
export function paperCutPainter(frame: Frame, palette: Palette, dice: Dice): PaintRow {
  const noise = noiseFrom(dice);
  const sheets = 7 + dice.below(2);
  const zoom = dice.between(0.85, 1.25);
  const [cx, cy] = [dice.between(-0.2, 0.2), dice.between(-0.15, 0.15)];
  const height = (x: number, y: number) => {
    const [u, v] = [
      x * zoom + 0.22 * noise.plane(x * 1.1 + 7, y * 1.1),
      y * zoom + 0.22 * noise.plane(x * 1.1, y * 1.1 + 31),
    ];
    const bowl = Math.hypot(x - cx, y - cy) * 1.05;
    return (
      (0.25 + bowl + 0.3 * noise.plane(u * 1.2 + 50, v * 1.2) + 0.09 * noise.plane(u * 2.9, v * 2.9 + 50)) *
      sheets
    );
  };
  const field = fieldOf(frame, 360, height);
  // The light comes from above and from the left. So a pixel lies in shadow when the sheet a little above and
  // to the left of this pixel is higher.
  const near = fieldOf(frame, 240, (x, y) => height(x - 0.012, y - 0.02));
  const farther = fieldOf(frame, 240, (x, y) => height(x - 0.035, y - 0.06));
  return sheetPainter(frame, palette, sheets, [field, near, farther]);
}

type Fields = readonly [ReturnType<typeof fieldOf>, ReturnType<typeof fieldOf>, ReturnType<typeof fieldOf>];

function sheetPainter(
  frame: Frame,
  palette: Palette,
  sheets: number,
  [field, near, farther]: Fields,
): PaintRow {
  const colours = sheetColours(palette, sheets);
  const shadow = mix(palette.near, [0, 0, 0], 0.4);
  const [here, above, close, wide] = [0, 1, 2, 3].map(() => new Float32Array(frame.width)) as [
    Float32Array,
    Float32Array,
    Float32Array,
    Float32Array,
  ];
  return (y, row) => {
    field.readRow(y + 0.5, here);
    field.readRow(y - 0.5, above);
    near.readRow(y + 0.5, close);
    farther.readRow(y + 0.5, wide);
    for (let x = 0, p = 0; p < row.length; x++, p += 3) {
      const value = here[x] ?? 0;
      // The lowest sheet has no hole, so a height below 1 counts as 1.
      const level = Math.floor(value < 1 ? 1 : value > sheets ? sheets : value);
      const slope = Math.abs(value - (above[x] ?? 0)) + Math.abs((here[x + 1] ?? value) - value) + 1e-6;
      const part = value - level;
      // The edge from this sheet to the sheet above is blurred over the width of one pixel.
      const cover = Math.min(1, Math.max(0, part / slope));
      const dark =
        shade((close[x] ?? 0) - level - 1, 3.2) * 0.3 + shade((wide[x] ?? 0) - level - 1, 1.3) * 0.28;
      paint(
        row,
        p,
        colours[level - 1] ?? shadow,
        colours[level] ?? shadow,
        level === 1 ? 1 : cover,
        shadow,
        dark * cover,
      );
    }
  };
}

function shade(over: number, sharp: number): number {
  const part = over * sharp + 0.5;
  const held = part < 0 ? 0 : part > 1 ? 1 : part;
  return held * held * (3 - 2 * held);
}

function paint(
  row: Float32Array,
  p: number,
  below: Rgb,
  sheet: Rgb,
  cover: number,
  shadow: Rgb,
  dark: number,
): void {
  for (let i = 0; i < 3; i++) {
    const level = (below[i] ?? 0) + ((sheet[i] ?? 0) - (below[i] ?? 0)) * cover;
    row[p + i] = level + ((shadow[i] ?? 0) - level) * dark;
  }
}

/** The colours of the sheets, the lowest darkest: the palette's own, since mixed ones look muddy. */
function sheetColours(palette: Palette, sheets: number): Rgb[] {
  const tones = tonesOf(palette);
  return Array.from(
    { length: sheets + 1 },
    (_, i) => tones[Math.round(((i - 1) / (sheets - 1)) * (tones.length - 1))] ?? palette.near,
  );
}

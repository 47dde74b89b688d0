import type { Dice } from './dice.ts';
import type { Frame } from './frame.ts';
import { type Noise, noiseFrom } from './noise.ts';

/**
 * The outline of a piece of land: its height above its base, from 0 to about 1, at a distance of `x` units of
 * the frame from the middle of the picture.
 */
export type Outline = (x: number) => number;

/**
 * The outline of mountains. Ridged noise makes the peaks sharp and the valleys wide. Finer octaves of the
 * noise add more detail to high ground than to low ground.
 */
export function peaks(dice: Dice, width: number, rough: number): Outline {
  const noise = noiseFrom(dice);
  const shift = dice.between(0, 90);
  return (x) => {
    let [sum, strength, at, above] = [0, 0.55, x / width + shift, 1];
    for (let octave = 0; octave < 9; octave++) {
      const fold = (1 - Math.abs(noise.line(at))) ** 1.6;
      sum += fold * strength * above;
      above = 0.35 + 0.65 * fold;
      strength *= rough;
      at = at * 2.07 + 11.3;
    }
    return sum;
  };
}

/** The outline of soft and round hills. */
export function hills(dice: Dice, width: number): Outline {
  const noise = noiseFrom(dice);
  const shift = dice.between(0, 90);
  return (x) => {
    const at = x / width + shift;
    return 0.5 + 0.36 * noise.line(at) + 0.14 * noise.line(at * 2.3 + 7) + 0.03 * noise.line(at * 6.1);
  };
}

/**
 * The outline of dunes. A dune has a long slope on one side, a short slope on the other, and a sharp crest.
 */
export function dunes(dice: Dice, width: number): Outline {
  const noise = noiseFrom(dice);
  const shift = dice.between(0, 90);
  const lee = dice.chance(0.5) ? 0.3 : 0.7;
  return (x) => {
    const at = x / width + shift + 0.22 * noise.line(x / width + 3);
    const cell = Math.floor(at);
    const part = at - cell;
    const rise = part < lee ? part / lee : (1 - part) / (1 - lee);
    const tall = 0.62 + 0.38 * noise.line(cell * 1.37 + 0.5);
    const [before, after] = [0.2 * noise.line(cell * 0.71), 0.2 * noise.line((cell + 1) * 0.71)];
    // The exponent keeps the dune flat at its foot and makes it steep near the crest.
    return 0.2 + before + (after - before) * part + tall * 0.75 * rise ** 1.7;
  };
}

/**
 * The outline of conifers that stand on other land.
 *
 * @param tall the greatest height of a tree, in the measure of the outline
 * @param spacing the distance from one tree to the next, in units of the frame
 */
export function conifers(dice: Dice, ground: Outline, tall: number, spacing: number): Outline {
  const noise = noiseFrom(dice);
  return (x) => {
    let top = 0;
    const middle = Math.floor(x / spacing);
    for (let i = middle - 2; i <= middle + 2; i++) top = Math.max(top, conifer(noise, i, x / spacing - i));
    return ground(x) + tall * top;
  };
}

/**
 * The height of tree number `i`, from 0 to 1, at an offset from the place where this tree would stand in an
 * even row. The offset is measured in spacings.
 */
function conifer(noise: Noise, i: number, offset: number): number {
  const own = (salt: number) => 0.5 + 0.5 * noise.line(i * 0.613 + salt + 0.31);
  // The second factor changes slowly and makes groves and clearings. The first makes each tree taller or
  // shorter than its neighbours.
  const size = (0.3 + 0.7 * own(5)) * (0.72 + 0.4 * noise.line(i * 0.09));
  const aside = offset - own(60);
  const beside = Math.abs(aside) / (0.2 + 0.6 * size);
  if (beside >= 1) return 0;
  // A tree has many short boughs. The boughs on its left and on its right begin at different heights.
  const bough = (beside * 9 + own(aside < 0 ? 90 : 120)) % 1;
  return Math.max(0, size * (1 - beside ** 0.8 + 0.075 * (bough - 0.5) * Math.min(1, beside * 6)));
}

/**
 * The outline in pixels from the upper edge of the picture, for each column. The outline's 0 lies `base`
 * pixels above the lower edge, and its 1 lies `scale` pixels above its 0.
 */
export function topsOf(frame: Frame, outline: Outline, base: number, scale: number): Float32Array {
  const tops = new Float32Array(frame.width);
  for (let x = 0; x < frame.width; x++)
    tops[x] = frame.height - base - scale * outline((x + 0.5 - frame.width / 2) / frame.unit);
  return tops;
}

import type { Dice } from './dice.ts';
import { conifers, dunes, hills, type Outline, peaks } from './land.ts';

/** The kind of land under the sky. */
export type Scenery = 'mountains' | 'forest' | 'dunes' | 'sea' | 'aurora';

/** One layer of land. */
export interface Layer {
  readonly outline: Outline;
  /** The outline of the ground below the trees. Layers without trees have none. */
  readonly ground?: Outline;
  /** The place of the outline's 0, as a share of the picture's height from the lower edge. */
  readonly base: number;
  /**
   * The height of the outline's 1. It is a share of the geometric mean of the picture's height and the
   * frame's unit.
   */
  readonly rise: number;
}

/** The parts of a landscape. Layers are listed from far to near. */
export interface Scene {
  /** The layers behind the water. In a landscape without water, these are all layers. */
  readonly behind: readonly Layer[];
  /** The layers between the water and the viewer. */
  readonly before: readonly Layer[];
  /**
   * The distance of the far shore from the lower edge, as a share of the picture's height, if there is water.
   */
  readonly shore?: number;
  /** How rough the water is, 0 to 1. */
  readonly rough: number;
  /** The strength of light and shade on the land, 0 to 1. */
  readonly relief: number;
}

type Parts = (part: string) => Dice;

/** Chooses the parts of a landscape by the dice. */
export function sceneryOf(scenery: Scenery, dice: Parts): Scene {
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

/**
 * The dark bank with trees at the lower edge. The viewer stands on it, and it gives the landscape its depth.
 */
function bank(dice: Parts): Layer {
  const ground = hills(dice('bank'), 0.9);
  return { outline: conifers(dice('bank trees'), ground, 0.85, 0.042), ground, base: -0.08, rise: 0.2 };
}

/** The clocks of the functions' environments, which a seed sets wrong. */
import type { Dice } from './dice.ts';

/** Time is right once; each clock is wrong in its own way. Names stand for functions. */
export interface Clocks {
  /** Sets all clocks by so many milliseconds. */
  readonly set: (byMillis: number) => void;
  /** Sets the clocks of one function's environments. */
  readonly setOf: (name: string, byMillis: number) => void;
  /** How wrong the clocks of a function are, or of whoever is none. */
  readonly skewOf: (name: string | undefined) => number;
  /** How wrong the clock of an invocation's environment is besides. */
  readonly environmentSkew: (name: string, id: string) => number;
  /** The most by which two readings of any two clocks may have been wrong against each other. */
  readonly largestSkew: () => number;
}

/** Of each function there are so many environments, each with a clock of its own. */
const environments = 3;

/** All right at first, but for what the environments differ. */
export function createClocks(dice: Dice, spreadMillis: number): Clocks {
  let all = 0;
  const own = new Map<string, number>();
  const extremes = { least: 0, most: 0 };
  const note = (skew: number): void => {
    extremes.least = Math.min(extremes.least, skew);
    extremes.most = Math.max(extremes.most, skew);
  };
  const skewOf = (name: string | undefined): number => all + (own.get(name ?? '') ?? 0);
  return {
    skewOf,
    environmentSkew: (name, id) => {
      if (spreadMillis === 0) return 0;
      const environment = dice.between(`environment of ${id}`, 1, environments);
      return dice.between(`clock of ${name} ${environment}`, -spreadMillis, spreadMillis);
    },
    set: (byMillis) => {
      all += byMillis;
      for (const name of ['', ...own.keys()]) note(skewOf(name));
    },
    setOf: (name, byMillis) => {
      own.set(name, (own.get(name) ?? 0) + byMillis);
      note(skewOf(name));
    },
    largestSkew: () => extremes.most - extremes.least + 2 * spreadMillis,
  };
}

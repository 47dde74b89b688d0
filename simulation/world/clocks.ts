/** The clocks of the functions' environments. A seed sets them wrong. */
import type { Dice } from './dice.ts';

/** How far each clock is from the true time. A name is the name of a function. */
export interface Clocks {
  /** Moves all clocks by a number of milliseconds. */
  readonly set: (byMillis: number) => void;
  /** Moves the clocks of one function's environments. */
  readonly setOf: (name: string, byMillis: number) => void;
  /** How wrong the clocks of a function are, in milliseconds. Without a name: how wrong all clocks are. */
  readonly skewOf: (name: string | undefined) => number;
  /** The additional error of the environment in which an invocation runs. */
  readonly environmentSkew: (name: string, id: string) => number;
  /** The largest difference that two readings of any two clocks may have had because of these errors. */
  readonly largestSkew: () => number;
}

/** Number of environments of each function. Each has a clock of its own. */
const environments = 3;

/** At first only the environments' own errors count, of at most `spreadMillis` in either direction. */
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

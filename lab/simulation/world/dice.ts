/**
 * Chance that comes from a seed. Every question has a name, and the answer depends only on the seed and that
 * name. So dropping a step or a fault from a scenario leaves all other answers as they were, and a failing
 * seed can be shrunk.
 */
export interface Dice {
  /** A number from 0 up to, but not including, 1. */
  readonly unit: (name: string) => number;
  readonly chance: (name: string, probability: number) => boolean;
  /** A whole number from `least` to `most`, both included. */
  readonly between: (name: string, least: number, most: number) => number;
  readonly pick: <Value>(name: string, values: readonly [Value, ...Value[]]) => Value;
}

/** Creates the dice of a seed. */
export function createDice(seed: number): Dice {
  const unit = (name: string): number => hash(seed, name) / 2 ** 32;
  return {
    unit,
    chance: (name, probability) => unit(name) < probability,
    between: (name, least, most) => least + Math.floor(unit(name) * (most - least + 1)),
    pick: (name, values) => values[Math.floor(unit(name) * values.length)] ?? values[0],
  };
}

/** FNV-1a over the name, followed by the finalizer of MurmurHash3. */
function hash(seed: number, name: string): number {
  let value = Math.imul(seed ^ 0x811c9dc5, 0x01000193);
  for (let index = 0; index < name.length; index += 1)
    value = Math.imul(value ^ name.charCodeAt(index), 0x01000193);
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35);
  return (value ^ (value >>> 16)) >>> 0;
}

/**
 * A stream of numbers from 0 up to, but not including, 1 (mulberry32). It serves callers that give no name,
 * such as those of Math.random.
 */
export function createStream(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let value = Math.imul(state ^ (state >>> 15), state | 1);
    value ^= value + Math.imul(value ^ (value >>> 7), value | 61);
    return ((value ^ (value >>> 14)) >>> 0) / 2 ** 32;
  };
}

import { createHash } from 'node:crypto';

/**
 * A repeatable source of random numbers. The same prompt, the same seed and the same part of the picture give
 * the same numbers.
 */
export interface Dice {
  /** A number from 0 (included) to 1 (excluded). */
  next(): number;
  /** A number from `low` (included) to `high` (excluded). */
  between(low: number, high: number): number;
  /** A whole number from 0 (included) to `count` (excluded). */
  below(count: number): number;
  /** True with the given probability, 0 to 1. */
  chance(probability: number): boolean;
  /** One of the options, which must not be empty. */
  pick<T>(options: readonly [T, ...T[]]): T;
}

/**
 * The dice of one part of one picture. Each part has its own dice. So a change in the drawing of the sky does
 * not move the mountains of any prompt.
 */
export function diceFor(prompt: string, seed: number, part: string): Dice {
  // JSON separates the three values, and writes lone surrogates as escapes. So two different prompts never
  // have the same digest.
  const digest = createHash('sha256')
    .update(JSON.stringify([prompt, seed, part]))
    .digest();
  const next = sfc32(digest);
  return {
    next,
    between: (low, high) => low + (high - low) * next(),
    below: (count) => Math.floor(next() * count),
    chance: (probability) => next() < probability,
    pick: (options) => options[Math.floor(next() * options.length)] ?? options[0],
  };
}

/**
 * The generator "Small Fast Counter" with 32 bits, from PractRand (public domain). Its state has 128 bits,
 * and a throw takes a few operations.
 */
function sfc32(digest: Buffer): () => number {
  let a = digest.readInt32LE(0);
  let b = digest.readInt32LE(4);
  let c = digest.readInt32LE(8);
  let counter = digest.readInt32LE(12);
  return () => {
    const sum = (((a + b) | 0) + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + sum) | 0;
    return (sum >>> 0) / 2 ** 32;
  };
}

/** Which picture of a model comes nearest to a size in pixels. */
import type { AspectRatio, Model, Resolution } from '../types/index.ts';

/** From how many pixels on a size is this resolution; the largest resolution first. */
const fromPixels: readonly (readonly [Resolution, number])[] = [
  ['4K', 6_000_000],
  ['2K', 2_097_152],
  ['1K', 0],
];
const ascending: readonly Resolution[] = ['1K', '2K', '4K'];

export interface Side {
  readonly width: number;
  readonly height: number;
}

/** `1024x1536` in numbers. Undefined when the text is no size. */
export function sideOf(size: string): Side | undefined {
  const [, width = '', height = ''] = /^(\d+)x(\d+)$/.exec(size) ?? [];
  const side = { width: Number(width), height: Number(height) };
  return side.width > 0 && side.height > 0 ? side : undefined;
}

/** The ratio of the model that is nearest to that of the size. */
export function nearestRatio({ width, height }: Side, { aspect_ratios }: Model): AspectRatio | undefined {
  const wanted = Math.log(width / height);
  const distance = (ratio: AspectRatio): number => {
    const [across = 1, down = 1] = ratio.split(':').map(Number);
    return Math.abs(Math.log(across / down) - wanted);
  };
  return [...aspect_ratios].sort((one, other) => distance(one) - distance(other))[0];
}

/** The resolution for a number of pixels. If the model lacks it: the next larger one, or else the largest. */
export function fittingResolution({ width, height }: Side, { resolutions }: Model): Resolution | undefined {
  const wanted = fromPixels.find(([, pixels]) => width * height >= pixels)?.[0] ?? '1K';
  const offered = ascending.filter((one) => resolutions.includes(one));
  return offered.find((one) => ascending.indexOf(one) >= ascending.indexOf(wanted)) ?? offered.at(-1);
}

/** Whether a picture has a ratio that a request may name. */
import { type AspectRatio, aspectRatios } from '../contract/request-fields.ts';

interface Size {
  readonly width: number;
  readonly height: number;
}

/** How far the ratio may differ: vendors round sizes, such as 1536 x 640 for 21:9, by 3 %. */
const tolerance = 0.1;

/** 1: exactly. */
function stretchOf({ width, height }: Size, ratio: AspectRatio): number {
  const [across = 1, down = 1] = ratio.split(':').map(Number);
  return (width * down) / (height * across);
}

export function isOfRatio(size: Size, ratio: AspectRatio): boolean {
  return Math.abs(stretchOf(size, ratio) - 1) <= tolerance;
}

/** All ratios, the nearest first. */
export function nearestRatios(size: Size): AspectRatio[] {
  const distance = (ratio: AspectRatio): number => Math.abs(Math.log(stretchOf(size, ratio)));
  return aspectRatios.toSorted((one, other) => distance(one) - distance(other));
}

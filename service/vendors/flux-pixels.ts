/** Width and height of a FLUX.2 picture. Every vendor that takes pixels gets the same numbers. */
import type { AspectRatio, Resolution } from '../contract/request-fields.ts';

export interface Pixels {
  readonly width: number;
  readonly height: number;
}

/**
 * Both sides are multiples of 16 and at most 2048, which is Replicate's limit. 1K has at most 1024 x 1024
 * pixels, because every vendor's prices begin with that first megapixel. 2K has at most 4,000,000 pixels. The
 * ratios are exact, except 16:9 and 21:9 at 1K, which are off by less than 1 %.
 *
 * @see https://help.bfl.ai/articles/4029171097-flux-2-technical-specifications
 *   (64 x 64 to 4 MP, multiples of 16; read 2026-11-21)
 */
const table: Readonly<Partial<Record<Resolution, Readonly<Record<AspectRatio, Pixels>>>>> = {
  '1K': {
    '1:1': { width: 1024, height: 1024 },
    '3:2': { width: 1248, height: 832 },
    '2:3': { width: 832, height: 1248 },
    '4:3': { width: 1152, height: 864 },
    '3:4': { width: 864, height: 1152 },
    '5:4': { width: 1120, height: 896 },
    '4:5': { width: 896, height: 1120 },
    '16:9': { width: 1360, height: 768 },
    '9:16': { width: 768, height: 1360 },
    '21:9': { width: 1536, height: 656 },
  },
  '2K': {
    '1:1': { width: 2000, height: 2000 },
    '3:2': { width: 2016, height: 1344 },
    '2:3': { width: 1344, height: 2016 },
    '4:3': { width: 2048, height: 1536 },
    '3:4': { width: 1536, height: 2048 },
    '5:4': { width: 2000, height: 1600 },
    '4:5': { width: 1600, height: 2000 },
    '16:9': { width: 2048, height: 1152 },
    '9:16': { width: 1152, height: 2048 },
    '21:9': { width: 2016, height: 864 },
  },
};

/** Throws for 4K, which FLUX.2 does not render. The catalog has no such route. */
export function fluxPixelsOf(resolution: Resolution, aspectRatio: AspectRatio): Pixels {
  const pixels = table[resolution]?.[aspectRatio];
  if (!pixels) throw new Error(`FLUX.2 renders no ${resolution}`);
  return pixels;
}

import type { AspectRatio, Resolution } from '../../../core/image-formats.ts';

/**
 * Width and height in Alibaba's form. The vendor's limits for qwen-image-3.0: 512 x 512 to 2048 x 2048 pixels in
 * total, and a ratio of 1:8 to 8:1. Up to 2,250,000 pixels are billed as 1K, more as 2K. Both sides are multiples
 * of 16, which the vendor does not ask for.
 * https://www.alibabacloud.com/help/en/model-studio/qwen-image-generation-and-editing-api-reference (2026-10-12)
 */
const sizes: Readonly<Partial<Record<Resolution, Readonly<Record<AspectRatio, string>>>>> = {
  '1K': {
    '1:1': '1024*1024',
    '3:2': '1248*832',
    '2:3': '832*1248',
    '4:3': '1152*864',
    '3:4': '864*1152',
    '5:4': '1120*896',
    '4:5': '896*1120',
    '16:9': '1360*768',
    '9:16': '768*1360',
    '21:9': '1536*656',
  },
  '2K': {
    '1:1': '2048*2048',
    '3:2': '2496*1664',
    '2:3': '1664*2496',
    '4:3': '2304*1728',
    '3:4': '1728*2304',
    '5:4': '2240*1792',
    '4:5': '1792*2240',
    '16:9': '2560*1440',
    '9:16': '1440*2560',
    '21:9': '2912*1248',
  },
};

/** Throws for 4K, which Qwen-Image does not render. The catalog has no such route. */
export function alibabaSizeOf(resolution: Resolution, aspectRatio: AspectRatio): string {
  const size = sizes[resolution]?.[aspectRatio];
  if (size === undefined) throw new Error(`Qwen-Image renders no ${resolution}`);
  return size;
}

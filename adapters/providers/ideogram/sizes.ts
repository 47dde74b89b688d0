import type { AspectRatio, Resolution } from '../../../core/image-formats.ts';

/**
 * Width and height in Ideogram's form. Without source images, Ideogram takes only its presets. Those of 2K are
 * documented (https://docs.comfy.org/development/comfy-router/models/ideogram/ideogram-v4/code, read 2026-11-22).
 * Those of 1K are half as wide and high; only 1024x1024 and 1280x720 of them were seen in use. Of 21:9 there is no
 * preset: the nearest, 22:9, is off by 5 %.
 */
export const ideogramSizes: Readonly<
  Partial<Record<Resolution, Readonly<Partial<Record<AspectRatio, string>>>>>
> = {
  '1K': {
    '1:1': '1024x1024',
    '3:2': '1248x832',
    '2:3': '832x1248',
    '4:3': '1152x864',
    '3:4': '864x1152',
    '5:4': '1120x896',
    '4:5': '896x1120',
    '16:9': '1280x720',
    '9:16': '720x1280',
  },
  '2K': {
    '1:1': '2048x2048',
    '3:2': '2496x1664',
    '2:3': '1664x2496',
    '4:3': '2304x1728',
    '3:4': '1728x2304',
    '5:4': '2240x1792',
    '4:5': '1792x2240',
    '16:9': '2560x1440',
    '9:16': '1440x2560',
  },
};

/** Throws for 4K and for 21:9. The catalog has no such route. */
export function ideogramSizeOf(resolution: Resolution, aspectRatio: AspectRatio): string {
  const size = ideogramSizes[resolution]?.[aspectRatio];
  if (size === undefined) throw new Error(`Ideogram renders no ${resolution} in ${aspectRatio}`);
  return size;
}

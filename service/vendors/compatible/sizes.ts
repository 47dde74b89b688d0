/** How a request names the size, in each syntax. */
import type { Style } from '../../catalog/provider-styles.ts';
import type { AspectRatio, Resolution } from '../../values/image-formats.ts';
import { openaiSizes } from '../openai-sizes.ts';
import type { RenderJob } from '../provider.ts';

type RatiosOfSeedream = Exclude<AspectRatio, '5:4' | '4:5'>;

/**
 * The sizes of Seedream by tier and ratio, as the vendor recommends them for 2K and 4K; it recommends none for 5:4 and
 * 4:5. Its limits: 5.0 pro renders 921,600 to 4,624,220 pixels, 4.5 and 5.0 lite render 3,686,400 to 16,777,216.
 * https://docs.byteplus.com/en/docs/ModelArk/1541523, as https://apixo.ai/docs/models/image/seedream-4-5 and public
 * clients quote it (read 2026-11-23)
 */
const arkSizes: Readonly<Record<Resolution, Readonly<Record<RatiosOfSeedream, string>>>> = {
  '1K': openaiSizes['1K'],
  '2K': {
    '1:1': '2048x2048',
    '3:2': '2496x1664',
    '2:3': '1664x2496',
    '4:3': '2304x1728',
    '3:4': '1728x2304',
    '16:9': '2848x1600',
    '9:16': '1600x2848',
    '21:9': '3136x1344',
  },
  '4K': {
    '1:1': '4096x4096',
    '3:2': '4992x3328',
    '2:3': '3328x4992',
    '4:3': '4704x3520',
    '3:4': '3520x4704',
    '16:9': '5504x3040',
    '9:16': '3040x5504',
    '21:9': '6240x2656',
  },
};

/** The fields of a request that name the size. Throws for a size that the catalog must not offer. */
export function sizeFields(
  syntax: Style['size'],
  { resolution, aspectRatio }: Pick<RenderJob, 'resolution' | 'aspectRatio'>,
): Readonly<Record<string, string>> {
  switch (syntax) {
    case 'pixels':
      return { size: openaiSizes[resolution][aspectRatio] };
    case 'ark_pixels': {
      if (aspectRatio === '5:4' || aspectRatio === '4:5')
        throw new Error(`Seedream renders no ${aspectRatio}`);
      return { size: arkSizes[resolution][aspectRatio] };
    }
    case 'ratio':
      return { size: aspectRatio };
    case 'tier':
      return { size: resolution, aspect_ratio: aspectRatio };
    case 'ratio_and_resolution':
      return { aspect_ratio: aspectRatio, resolution: resolution.toLowerCase() };
  }
}

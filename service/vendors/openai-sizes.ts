import type { AspectRatio, Resolution } from '../contract/request-fields.ts';

/**
 * Width and height of every ratio at every resolution, in OpenAI's form. The vendor's limits for gpt-image-2,
 * 2.5 and 2.6: both sides are multiples of 16 and at most 3840, the longer side is at most three times the
 * shorter one, and the picture has 655,360 to 8,294,400 pixels. 1K is about 1 megapixel, 2K about 4, and 4K
 * as near to 8.29 as the ratio allows. The price depends on size and quality. A square costs most, so
 * service/catalog/provider-costs.json holds its cost.
 * https://developers.openai.com/api/docs/guides/image-generation#size-and-quality-options (read 2026-11-21)
 */
export const openaiSizes: Readonly<Record<Resolution, Readonly<Record<AspectRatio, string>>>> = {
  '1K': {
    '1:1': '1024x1024',
    '3:2': '1248x832',
    '2:3': '832x1248',
    '4:3': '1152x864',
    '3:4': '864x1152',
    '5:4': '1120x896',
    '4:5': '896x1120',
    '16:9': '1360x768',
    '9:16': '768x1360',
    '21:9': '1568x672',
  },
  '2K': {
    '1:1': '2048x2048',
    '3:2': '2496x1664',
    '2:3': '1664x2496',
    '4:3': '2368x1776',
    '3:4': '1776x2368',
    '5:4': '2240x1792',
    '4:5': '1792x2240',
    '16:9': '2736x1536',
    '9:16': '1536x2736',
    '21:9': '3136x1344',
  },
  '4K': {
    '1:1': '2880x2880',
    '3:2': '3504x2336',
    '2:3': '2336x3504',
    '4:3': '3264x2448',
    '3:4': '2448x3264',
    '5:4': '3200x2560',
    '4:5': '2560x3200',
    '16:9': '3840x2160',
    '9:16': '2160x3840',
    '21:9': '3840x1648',
  },
};

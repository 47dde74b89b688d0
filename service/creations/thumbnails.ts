/** The thumbnails of a result: WebP files beside the result in the bucket, which live as long as it does. */

import { thumbnailSides } from '../contract/limits.ts';

/** The form of a result whose key is `results/RANDOM.png` has the key `results/RANDOM-96.webp`. */
export function thumbnailKey(resultKey: string, form: keyof typeof thumbnailSides): string {
  return resultKey.replace(/\.\w+$/, `-${thumbnailSides[form]}.webp`);
}

export interface Thumbnail {
  readonly width: number;
  readonly height: number;
  readonly bytes: Uint8Array;
}

export interface Thumbnails {
  readonly small: Thumbnail;
  readonly large: Thumbnail;
  /** Nine colours, row by row, each of six hexadecimal digits. */
  readonly colours: string;
}

/** What a provider sent, looked at before its creation may be called completed. */
import { readImageHeader, type ImageHeader } from './image-bytes.ts';
import type { AspectRatio, OutputFormat } from './image-formats.ts';

/** How far a picture's ratio may lie from the asked one: vendors round to multiples of 16 and to sizes of their own (21:9 as 1536 x 640 is 3 % off). */
const ratioTolerance = 0.1;

export type RenderedImage =
  | { readonly kind: 'good'; readonly header: ImageHeader; readonly isOfAskedRatio: boolean }
  | { readonly kind: 'unusable'; readonly detail: string };

/**
 * By its bytes alone: an image of the asked type, whose pixels are known. Nothing is
 * converted, so that another type is no image for this creation; another ratio is a
 * picture all the same, reported as it is and shown to the operator.
 */
export function judgeImage(
  bytes: Uint8Array,
  asked: { readonly outputFormat: OutputFormat; readonly aspectRatio: AspectRatio },
): RenderedImage {
  const header = readImageHeader(bytes);
  if (!header) return { kind: 'unusable', detail: `no image in ${bytes.byteLength} bytes` };
  if (header.contentType !== `image/${asked.outputFormat}`)
    return { kind: 'unusable', detail: `${header.contentType} instead of ${asked.outputFormat}` };
  const [across = 1, down = 1] = asked.aspectRatio.split(':').map(Number);
  const stretch = (header.width * down) / (header.height * across);
  return { kind: 'good', header, isOfAskedRatio: Math.abs(stretch - 1) <= ratioTolerance };
}

/** The check of the bytes that a provider sent, before the creation may become completed. */
import { type ImageHeader, readImageHeader } from '../values/image-bytes.ts';
import type { AspectRatio, OutputFormat } from '../values/image-formats.ts';

/**
 * How far the ratio of an image may differ from the requested one. Vendors round sizes to multiples of 16 or
 * to sizes of their own: 1536 x 640 for 21:9 differs by 3 %.
 */
const ratioTolerance = 0.1;

export type RenderedImage =
  | { readonly kind: 'good'; readonly header: ImageHeader; readonly isOfAskedRatio: boolean }
  | { readonly kind: 'unusable'; readonly detail: string };

/**
 * Judges the bytes alone. An image of another type than the requested one is unusable, since
 * the service converts nothing. An image of another ratio is usable: its real size is
 * reported to the client and logged for the operator.
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

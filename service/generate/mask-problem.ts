/**
 * What is wrong with a mask, or with the source image that it is for. A function loads this file with its
 * first mask (lib/bundling/bundle-text.ts). Whether a picture keeps what the mask protects is checked after
 * the rendering, because the check needs the picture's pixels.
 */
import type { ImagePlace } from '../api/problems.ts';
import { frameOf, type ImageHeader } from '../values/image-bytes.ts';
import type { FieldErrorCode } from '../values/problem.ts';
import { bigEndian } from '../values/text.ts';

type ImageBytes = ImageHeader & { readonly bytes: Uint8Array };

export interface MaskProblem {
  readonly place: ImagePlace;
  readonly code: FieldErrorCode;
  readonly message: string;
}

/** Undefined: the picture can be compared with the source image where the mask protects it. */
export function maskProblem(mask: ImageBytes, source: ImageBytes): MaskProblem | undefined {
  const unsupported = { code: 'unsupported_type' } as const;
  if (mask.contentType !== 'image/png' || mask.bytes[interlaceAt] !== 0)
    return { place: 'mask', ...unsupported, message: 'must be a PNG without interlacing' };
  const [found, wanted] = [mask, source].map(({ width, height }) => `${width} x ${height}`);
  if (found !== wanted) {
    const message = `must be ${wanted}, as the first source image; this is ${found}`;
    return { place: 'mask', code: 'invalid_size', message };
  }
  const kind = unreadKind(source);
  return kind === undefined
    ? undefined
    : { place: 0, ...unsupported, message: `must not be ${kind}: it has a mask, so its pixels are read` };
}

/** The byte of IHDR with the interlace method: PNG, second edition, 11.2.2. */
const interlaceAt = 28;

/** A WebP with more pixels does not fit into the memory of the renderer, if its file has the largest size. */
export const mostWebpPixels = 19_000_000;

/** A kind that service/render/thumbnails/decode.ts does not read. It is refused here, before the charge. */
function unreadKind({ contentType, bytes, width, height }: ImageBytes): string | undefined {
  if (contentType === 'image/webp') {
    if (isAnimated(bytes)) return 'an animated WebP';
    return width * height > mostWebpPixels ? 'a WebP of more than 19 megapixels' : undefined;
  }
  if (contentType === 'image/png') {
    if (bytes[interlaceAt] !== 0) return 'an interlaced PNG';
    return hasTransparentColour(bytes) ? 'a PNG with a transparent colour (tRNS)' : undefined;
  }
  const frame = frameOf(bytes);
  // Marker, length, precision, height, width, components: ITU T.81, B.2.2.
  return frame !== undefined && bytes[frame + 9] === 4 ? 'a JPEG of CMYK' : undefined;
}

/** The bit A in the flags of VP8X: RFC 9649, section 2.7. */
function isAnimated(bytes: Uint8Array): boolean {
  return String.fromCharCode(...bytes.subarray(12, 16)) === 'VP8X' && ((bytes[20] ?? 0) & 2) !== 0;
}

/** A chunk tRNS without a palette (colour type 3). It comes before the first IDAT: PNG, second edition, 5.6. */
function hasTransparentColour(bytes: Uint8Array): boolean {
  if (bytes[25] === 3) return false;
  for (let at = 8; at + 12 <= bytes.length; at += 12 + bigEndian(bytes, at, 4)) {
    const type = String.fromCharCode(...bytes.subarray(at + 4, at + 8));
    if (type === 'tRNS' || type === 'IDAT') return type === 'tRNS';
  }
  return false;
}

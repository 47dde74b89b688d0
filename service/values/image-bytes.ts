import { ascii, bigEndian, has, littleEndian } from './text.ts';

export type ImageContentType = 'image/png' | 'image/jpeg' | 'image/webp';

export const extensionOf: Readonly<Record<ImageContentType, string>> = {
  'image/jpeg': 'jpg',
  'image/png': 'png',
  'image/webp': 'webp',
};

export interface ImageHeader {
  readonly contentType: ImageContentType;
  /** Pixels, at least 1. */
  readonly width: number;
  /** Pixels, at least 1. */
  readonly height: number;
}

/** Type and size of a PNG, JPEG or WebP file by its header, without EXIF. Undefined for others. */
export function readImageHeader(bytes: Uint8Array): ImageHeader | undefined {
  const header = readPng(bytes) ?? readWebp(bytes) ?? readJpeg(bytes);
  return header && header.width > 0 && header.height > 0 ? header : undefined;
}

const pngStart = [137, 80, 78, 71, 13, 10, 26, 10, 0, 0, 0, 13, ...ascii('IHDR')];

/** The chunk IHDR is always the first: PNG 1.2, section 5.6. */
function readPng(bytes: Uint8Array): ImageHeader | undefined {
  if (bytes.length < 33 || !has(bytes, 0, pngStart)) return undefined;
  const [width, height] = [bigEndian(bytes, 16, 4), bigEndian(bytes, 20, 4)];
  // PNG allows sizes of 31 bits.
  return width < 2 ** 31 && height < 2 ** 31 ? { contentType: 'image/png', width, height } : undefined;
}

/** Markers that have no segment and may come before a frame: TEM and RST0 to RST7. */
const bareMarkers = new Set([0x01, 0xd0, 0xd1, 0xd2, 0xd3, 0xd4, 0xd5, 0xd6, 0xd7]);
const [startOfImage, endOfImage, startOfScan] = [0xd8, 0xd9, 0xda];
/** SOF0 to SOF15, without DHT, JPG and DAC, which lie in the same range: ITU T.81, table B.1. */
const frames = new Set([0xc0, 0xc1, 0xc2, 0xc3, 0xc5, 0xc6, 0xc7, 0xc9, 0xca, 0xcb, 0xcd, 0xce, 0xcf]);

function readJpeg(bytes: Uint8Array): ImageHeader | undefined {
  const at = frameOf(bytes);
  return at === undefined ? undefined : readFrame(bytes, at);
}

/** Where a JPEG begins its frame of any kind, such as baseline: walks from segment to segment. */
export function frameOf(bytes: Uint8Array): number | undefined {
  if (!has(bytes, 0, [0xff, startOfImage, 0xff])) return undefined;
  let at = 2;
  while (at + 4 <= bytes.length && bytes[at] === 0xff) {
    const marker = bytes[at + 1] ?? 0;
    // Any number of FF may stand before a marker.
    if (marker === 0xff) at += 1;
    else if (bareMarkers.has(marker)) at += 2;
    else if ([0, startOfImage, endOfImage, startOfScan].includes(marker)) return undefined;
    else if (frames.has(marker)) return at;
    // The length counts its own two bytes. A wrong length leads forward to bytes without a marker.
    else at += 2 + bigEndian(bytes, at + 2, 2);
  }
  return undefined;
}

/** Marker, length, precision, height, width: ITU T.81, B.2.2. */
function readFrame(bytes: Uint8Array, at: number): ImageHeader | undefined {
  if (at + 10 > bytes.length || bigEndian(bytes, at + 2, 2) < 8) return undefined;
  return {
    contentType: 'image/jpeg',
    width: bigEndian(bytes, at + 7, 2),
    height: bigEndian(bytes, at + 5, 2),
  };
}

/** The first chunk is of a simple lossy, a simple lossless or an extended file (RFC 9649, 2.5 to 2.7). */
function readWebp(bytes: Uint8Array): ImageHeader | undefined {
  if (!has(bytes, 0, ascii('RIFF')) || !has(bytes, 8, ascii('WEBP'))) return undefined;
  const size = lossy(bytes) ?? lossless(bytes) ?? extended(bytes);
  return size && { contentType: 'image/webp', width: size[0], height: size[1] };
}

/** VP8: the tag of a key frame (lowest bit 0), a start code, two sides of 14 bits (RFC 6386, 9.1). */
function lossy(bytes: Uint8Array): [number, number] | undefined {
  if (bytes.length < 30 || !has(bytes, 12, ascii('VP8 ')) || !has(bytes, 23, [0x9d, 0x01, 0x2a]))
    return undefined;
  if (((bytes[20] ?? 1) & 1) !== 0) return undefined;
  return [littleEndian(bytes, 26, 2) & 0x3fff, littleEndian(bytes, 28, 2) & 0x3fff];
}

/** VP8L: a signature byte, then width - 1 and height - 1 of 14 bits each. RFC 9649, section 3.4. */
function lossless(bytes: Uint8Array): [number, number] | undefined {
  if (bytes.length < 25 || !has(bytes, 12, ascii('VP8L')) || bytes[20] !== 0x2f) return undefined;
  const packed = littleEndian(bytes, 21, 4);
  return [(packed & 0x3fff) + 1, ((packed >>> 14) & 0x3fff) + 1];
}

/** VP8X: four bytes of flags, then width - 1 and height - 1 of 24 bits each. RFC 9649, section 2.7. */
function extended(bytes: Uint8Array): [number, number] | undefined {
  if (bytes.length < 30 || !has(bytes, 12, ascii('VP8X'))) return undefined;
  return [littleEndian(bytes, 24, 3) + 1, littleEndian(bytes, 27, 3) + 1];
}

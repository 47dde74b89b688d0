/**
 * Whether an image file carries content credentials: a C2PA manifest, where the specification of C2PA puts
 * it in each format ("Embedding manifests into various file formats"). Only the presence is read. The
 * signature of the manifest is not checked, and the bytes are never changed.
 */
import type { ImageContentType } from '../values/image-bytes.ts';
import { ascii, bigEndian, has, littleEndian } from '../values/text.ts';

export type ContentCredentials = 'present' | 'absent';

/** What the bytes of an image of this type say. Never throws, and never goes back in the file. */
export function readContentCredentials(bytes: Uint8Array, contentType: ImageContentType): ContentCredentials {
  return holdsManifest[contentType](bytes) ? 'present' : 'absent';
}

const holdsManifest: Readonly<Record<ImageContentType, (bytes: Uint8Array) => boolean>> = {
  'image/png': pngHoldsManifest,
  'image/jpeg': jpegHoldsManifest,
  'image/webp': webpHoldsManifest,
};

const [pngSignature, riffHeader] = [8, 12];
const [caBX, c2paChunk, imageEnd] = [ascii('caBX'), ascii('C2PA'), ascii('IEND')];

/** A chunk has a length of its data, a type, the data and a CRC of four bytes: PNG 1.2, section 3.2. */
function pngHoldsManifest(bytes: Uint8Array): boolean {
  let at = pngSignature;
  while (at + 8 <= bytes.length) {
    if (has(bytes, at + 4, caBX)) return true;
    if (has(bytes, at + 4, imageEnd)) return false;
    at += 12 + bigEndian(bytes, at, 4);
  }
  return false;
}

const [applicationSegment11, startOfScan, endOfImage] = [0xeb, 0xda, 0xd9];
/** Markers without a length: TEM, RST0 to RST7, SOI. */
const bareMarkers = new Set([0x01, 0xd0, 0xd1, 0xd2, 0xd3, 0xd4, 0xd5, 0xd6, 0xd7, 0xd8]);

/** The manifest is in segments of APP11 before the first scan. */
function jpegHoldsManifest(bytes: Uint8Array): boolean {
  let at = 2;
  while (at + 4 <= bytes.length && bytes[at] === 0xff) {
    const marker = bytes[at + 1] ?? 0;
    // Any number of FF may stand before a marker.
    if (marker === 0xff) at += 1;
    else if (bareMarkers.has(marker)) at += 2;
    else if (marker === startOfScan || marker === endOfImage) return false;
    else if (marker === applicationSegment11 && isManifestSegment(bytes, at)) return true;
    else at += 2 + bigEndian(bytes, at + 2, 2);
  }
  return false;
}

/** The type of C2PA's box: "c2pa", and the last 12 bytes that all types of ISO 19566-5 have. */
const manifestStore = [
  ...ascii('c2pa'),
  0x00,
  0x11,
  0x00,
  0x10,
  0x80,
  0x00,
  0x00,
  0xaa,
  0x00,
  0x38,
  0x9b,
  0x71,
];

/** Marker, length, "JP", two numbers (ISO 18477-3), then the superbox "jumb" (ISO 19566-5). */
function isManifestSegment(bytes: Uint8Array, at: number): boolean {
  const end = Math.min(bytes.length, at + 2 + bigEndian(bytes, at + 2, 2));
  const box = at + 12;
  if (box + 8 > end || !has(bytes, at + 4, ascii('JP')) || !has(bytes, box + 4, ascii('jumb'))) return false;
  const description = box + (bigEndian(bytes, box, 4) === 1 ? 16 : 8);
  return (
    description + 8 + manifestStore.length <= end &&
    has(bytes, description + 4, [...ascii('jumd'), ...manifestStore])
  );
}

/** A chunk has a type, a length, and data that is filled up to an even length: RFC 9649, section 2.3. */
function webpHoldsManifest(bytes: Uint8Array): boolean {
  let at = riffHeader;
  while (at + 8 <= bytes.length) {
    if (has(bytes, at, c2paChunk)) return true;
    const length = littleEndian(bytes, at + 4, 4);
    at += 8 + length + (length % 2);
  }
  return false;
}

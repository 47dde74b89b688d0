/** The type of an image by its first bytes. */

export type ImageType = 'image/png' | 'image/jpeg' | 'image/webp';

/** What stands at the begin of a file: PNG (RFC 2083), JPEG (T.81), WebP (RFC 9649). */
const beginnings: readonly {
  readonly type: ImageType;
  readonly parts: readonly (readonly [number, string])[];
}[] = [
  { type: 'image/png', parts: [[0, '\x89PNG\r\n\x1a\n']] },
  { type: 'image/jpeg', parts: [[0, '\xff\xd8\xff']] },
  {
    type: 'image/webp',
    parts: [
      [0, 'RIFF'],
      [8, 'WEBP'],
    ],
  },
];

/** As many bytes as the longest beginning has. */
export const typeLength = 12;

export function imageTypeOf(bytes: Uint8Array): ImageType | undefined {
  const text = String.fromCharCode(...bytes.subarray(0, typeLength));
  return beginnings.find(({ parts }) => parts.every(([at, part]) => text.startsWith(part, at)))?.type;
}

import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readImageHeader } from '../../service/values/image-bytes.ts';

const ascii = (text: string) => Array.from(Buffer.from(text, 'latin1'));
const bytes = (...parts: (number | readonly number[])[]) => Uint8Array.from(parts.flat());
const word = (value: number) => [value >> 8, value & 255];

const png = (width: readonly number[], height: readonly number[]) =>
  bytes(
    [137, 80, 78, 71, 13, 10, 26, 10],
    [0, 0, 0, 13],
    ascii('IHDR'),
    width,
    height,
    [8, 2, 0, 0, 0],
    [1, 2, 3, 4],
  );
const frame = (marker: number, width: number, height: number) => [
  0xff,
  marker,
  ...word(17),
  8,
  ...word(height),
  ...word(width),
  3,
  ...Array<number>(9).fill(0),
];
const riff = (chunk: string, ...data: (number | readonly number[])[]) =>
  bytes(ascii('RIFF'), [0, 0, 0, 0], ascii('WEBP'), ascii(chunk), [0, 0, 0, 0], ...data);

/** One whole file of each kind, all of 1537 x 1025. */
const files: Readonly<Record<string, Uint8Array>> = {
  png: png([0, 0, 6, 1], [0, 0, 4, 1]),
  'baseline jpeg': bytes(
    [0xff, 0xd8],
    [0xff, 0xe0, ...word(16), ...Array<number>(14).fill(0)],
    frame(0xc0, 1537, 1025),
  ),
  'progressive jpeg': bytes(
    [0xff, 0xd8],
    [0xff, 0xdb, ...word(4), 0, 0],
    [0xff, 0xc4, ...word(3), 0],
    frame(0xc2, 1537, 1025),
  ),
  'jpeg with fill bytes and a thumbnail in its EXIF segment': bytes(
    [0xff, 0xd8],
    [0xff, 0xff, 0xff, 0xe1, ...word(21), ...frame(0xc0, 160, 120)],
    frame(0xc1, 1537, 1025),
  ),
  'lossy webp': riff('VP8 ', [0x10, 0, 0], [0x9d, 0x01, 0x2a], [0x01, 0x06 | 0x40], [0x01, 0x04]),
  'lossless webp': riff('VP8L', [0x2f], [0x00, 0x06, 0x00, 0x01]),
  'extended webp': riff('VP8X', [0x10, 0, 0, 0], [0x00, 0x06, 0], [0x00, 0x04, 0]),
};

const typeOf = (name: string) => `image/${/png|jpeg|webp/.exec(name)?.[0] ?? ''}`;

describe('the header of an image file', () => {
  it.each(Object.entries(files))('The header of a %s gives its type and its size', (name, file) => {
    expect(readImageHeader(file)).toEqual({ contentType: typeOf(name), width: 1537, height: 1025 });
  });

  it.each(Object.entries(files))(
    'The header of a %s is unknown until its size has arrived',
    (_name, file) => {
      const known = Array.from(file, (_, end) => readImageHeader(file.subarray(0, end)) !== undefined);
      // Cut anywhere up to the size it is unknown; behind the size nothing is needed. Never does a cut give
      // another size.
      expect(known.slice(0, 23)).not.toContain(true);
      for (const end of known.keys()) {
        if (known[end])
          expect(readImageHeader(file.subarray(0, end))).toMatchObject({ width: 1537, height: 1025 });
      }
    },
  );

  it.each(Object.entries(files))(
    'The header of a %s does not depend on the bytes that follow',
    (_name, file) => {
      const longer = bytes(Array.from(file), Array<number>(20).fill(0xff));
      expect(readImageHeader(longer)).toEqual(readImageHeader(file));
    },
  );

  it.each([1, 2, 3])('The header of a jpeg is found behind %i fill bytes', (count) => {
    const fill = Array<number>(count).fill(0xff);
    expect(readImageHeader(bytes([0xff, 0xd8], fill, frame(0xc0, 1537, 1025)))).toMatchObject({
      width: 1537,
      height: 1025,
    });
  });

  it('The header of a lossy webp is found when all bits of the tag of its key frame are 0', () => {
    const file = riff('VP8 ', [0, 0, 0], [0x9d, 0x01, 0x2a], [9, 0], [7, 0]);
    expect(readImageHeader(file)).toMatchObject({ width: 9, height: 7 });
  });

  // What is read of a file: in each case the header of the part that holds the size.
  it.each([
    ['png', 33],
    ['baseline jpeg', 30],
    ['progressive jpeg', 23],
    ['jpeg with fill bytes and a thumbnail in its EXIF segment', 37],
    ['lossy webp', 30],
    ['lossless webp', 25],
    ['extended webp', 30],
  ])('The header of a %s needs the first %i bytes', (name, least) => {
    const file = files[name] ?? bytes();
    expect(readImageHeader(file.subarray(0, least))).toMatchObject({ width: 1537, height: 1025 });
    expect(readImageHeader(file.subarray(0, least - 1))).toBeUndefined();
  });

  it.each([0x00, 0xd8, 0xd9, 0xda])(
    'The header of a jpeg is unknown when the marker %i comes before the frame',
    (marker) => {
      const file = bytes([0xff, 0xd8, 0xff, marker], word(2), frame(0xc0, 1537, 1025));
      expect(readImageHeader(file)).toBeUndefined();
    },
  );

  it('The header of a jpeg is found in a frame of the least length, and behind a segment longer than 255 bytes', () => {
    const least = [0xff, 0xc0, ...word(8), 8, ...word(1025), ...word(1537), 0];
    expect(readImageHeader(bytes([0xff, 0xd8], least))).toMatchObject({ width: 1537, height: 1025 });
    const segment = [0xff, 0xe1, ...word(0x0203), ...Array<number>(0x0201).fill(0)];
    expect(readImageHeader(bytes([0xff, 0xd8], segment, least))).toMatchObject({ width: 1537 });
  });

  it.each([0x01, 0xd0, 0xd1, 0xd2, 0xd3, 0xd4, 0xd5, 0xd6, 0xd7])(
    'The header of a jpeg is found after the marker %i, which has no segment',
    (marker) => {
      expect(readImageHeader(bytes([0xff, 0xd8, 0xff, marker], frame(0xc0, 1537, 1025)))).toEqual({
        contentType: 'image/jpeg',
        width: 1537,
        height: 1025,
      });
    },
  );

  it.each([0xc0, 0xc1, 0xc2, 0xc3, 0xc5, 0xc6, 0xc7, 0xc9, 0xca, 0xcb, 0xcd, 0xce, 0xcf])(
    'The header of a jpeg is read from a frame of marker %i',
    (marker) => {
      expect(readImageHeader(bytes([0xff, 0xd8], frame(marker, 1537, 1025)))).toEqual({
        contentType: 'image/jpeg',
        width: 1537,
        height: 1025,
      });
    },
  );

  it.each([0xc4, 0xc8, 0xcc])(
    'The header of a jpeg is not read from a segment of marker %i, which is no frame',
    (marker) => {
      expect(
        readImageHeader(bytes([0xff, 0xd8], frame(marker, 9, 9), frame(0xc0, 1537, 1025))),
      ).toMatchObject({
        width: 1537,
      });
    },
  );

  it('The header of an image uses every bit of its size', () => {
    expect(readImageHeader(png([0x01, 0x02, 0x03, 0x04], [0x7f, 0xff, 0xff, 0xff]))).toMatchObject({
      width: 0x01020304,
      height: 2 ** 31 - 1,
    });
    expect(readImageHeader(png([0x7f, 0xff, 0xff, 0xff], [0x01, 0x02, 0x03, 0x04]))).toMatchObject({
      width: 2 ** 31 - 1,
      height: 0x01020304,
    });
    expect(readImageHeader(png([0, 0, 0, 1], [0x80, 0, 0, 0]))).toBeUndefined();
    expect(
      readImageHeader(riff('VP8 ', [0x10, 0, 0], [0x9d, 0x01, 0x2a], [0xff, 0xff], [0xfe, 0x7f])),
    ).toMatchObject({ width: 0x3fff, height: 0x3ffe });
    expect(readImageHeader(riff('VP8L', [0x2f], [0xff, 0xff, 0xff, 0x0f]))).toMatchObject({
      width: 0x4000,
      height: 0x4000,
    });
    expect(
      readImageHeader(riff('VP8X', [0x10, 0, 0, 0], [0x03, 0x02, 0x01], [0x06, 0x05, 0x04])),
    ).toMatchObject({ width: 0x010204, height: 0x040507 });
  });

  it('The header of an image is found in a view of a larger buffer', () => {
    const file = files['lossy webp'] ?? bytes();
    const padded = bytes([1, 2, 3], Array.from(file), [4]);
    expect(readImageHeader(padded.subarray(3, 3 + file.length))).toMatchObject({ width: 1537 });
  });

  it.each([
    ['nothing', bytes()],
    ['text', bytes(ascii('<html>no image here, sorry, and enough of it</html>'))],
    ['a gif', bytes(ascii('GIF89a'), Array<number>(40).fill(1))],
    [
      'a png whose first chunk is not IHDR',
      png([0, 0, 4, 0], [0, 0, 4, 0]).map((byte, at) => (at === 12 ? 0x4a : byte)),
    ],
    ['a frame of jpeg without the start of an image', bytes([0xff, 0xd9], frame(0xc0, 9, 9))],
    ['a frame of jpeg behind two other bytes', bytes([0x00, 0xd8], frame(0xc0, 9, 9))],
    ['a webp without RIFF', riff('VP8L', [0x2f], [9, 0, 9, 0]).fill(0, 0, 4)],
    ['a webp without WEBP', riff('VP8L', [0x2f], [9, 0, 9, 0]).fill(0, 8, 12)],
    ['a lossy webp without its start code', riff('VP8 ', [0x10, 0, 0], [0x9d, 0x01, 0x2b], [9, 0, 9, 0])],
    ['a start code of webp in another chunk', riff('VP8?', [0x10, 0, 0], [0x9d, 0x01, 0x2a], [9, 0, 9, 0])],
    ['a png of width 0', png([0, 0, 0, 0], [0, 0, 4, 0])],
    ['a png wider than 31 bits', png([0x80, 0, 0, 0], [0, 0, 4, 0])],
    ['a jpeg whose scan comes before a frame', bytes([0xff, 0xd8, 0xff, 0xda], word(2), frame(0xc0, 9, 9))],
    ['a jpeg that ends before a frame', bytes([0xff, 0xd8, 0xff, 0xd9], frame(0xc0, 9, 9))],
    [
      'a jpeg whose frame says that it has 7 bytes',
      bytes([0xff, 0xd8, 0xff, 0xc0], word(7), [8], word(9), word(9), Array<number>(9).fill(0)),
    ],
    ['a jpeg with a segment of length 0', bytes([0xff, 0xd8, 0xff, 0xe0], word(0), frame(0xc0, 9, 9))],
    [
      'a jpeg whose segment leads out of the file',
      bytes([0xff, 0xd8, 0xff, 0xe0], word(0xffff), frame(0xc0, 9, 9)),
    ],
    [
      'a jpeg with rubbish between segments',
      bytes([0xff, 0xd8, 0xff, 0xe0], word(2), [7], frame(0xc0, 9, 9)),
    ],
    ['a jpeg of height 0, which only its end would tell', bytes([0xff, 0xd8], frame(0xc0, 9, 0))],
    [
      'a lossy webp that begins between key frames',
      riff('VP8 ', [0x11, 0, 0], [0x9d, 0x01, 0x2a], [9, 0, 9, 0]),
    ],
    ['a lossless webp without its signature', riff('VP8L', [0x2e], [9, 0, 9, 0])],
    ['a webp of an unknown kind', riff('VP9 ', Array<number>(20).fill(9))],
  ])('The header of %s is unknown', (_name, file) => {
    expect(readImageHeader(file)).toBeUndefined();
  });

  it('The reading of a header never throws and never gives a size below 1, for any bytes', () => {
    const starts = [
      [],
      ...Object.values(files).flatMap((file) =>
        [2, 8, 12, 16, 20].map((end) => Array.from(file.subarray(0, end))),
      ),
    ];
    const hostile = fc.tuple(fc.constantFrom(...starts), fc.uint8Array({ maxLength: 200 }));
    fc.assert(
      fc.property(hostile, ([start, rest]) => {
        const header = readImageHeader(bytes(start, Array.from(rest)));
        expect(header === undefined || (header.width >= 1 && header.height >= 1)).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });
});

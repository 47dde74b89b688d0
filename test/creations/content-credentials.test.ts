import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { pictureOf } from '../../lab/vendors/fakes/fake-vendor.ts';
import { readContentCredentials } from '../../service/creations/content-credentials.ts';
import { type OutputFormat, outputFormats } from '../../service/contract/request-fields.ts';
import {
  insert,
  jpegSegment,
  manifest,
  otherBox,
  pngChunk,
  webpChunk,
  withManifest,
} from '../fixtures/manifests.ts';

const read = (format: OutputFormat, file: Uint8Array) => readContentCredentials(file, `image/${format}`);
const plain = (format: OutputFormat) => pictureOf(format, 64, 64);

/** A box whose length stands in eight further bytes. */
const longBox = Buffer.concat([
  Buffer.from([0, 0, 0, 1]),
  manifest.subarray(4, 8),
  Buffer.alloc(8, 1),
  manifest.subarray(8),
]);

describe('The content credentials of a file', () => {
  it.each(outputFormats)('A %s without a manifest has none', (format) => {
    expect(read(format, plain(format))).toBe('absent');
  });

  it.each(outputFormats)('A %s with a manifest has them', (format) => {
    expect(read(format, withManifest(format, plain(format)))).toBe('present');
  });

  it.each<[string, OutputFormat, (file: Buffer) => Buffer]>([
    [
      'behind other chunks of a PNG',
      'png',
      (file) => insert(file, 33, pngChunk('tEXt', Buffer.alloc(300, 1))),
    ],
    ['behind other segments of a JPEG', 'jpeg', (file) => insert(file, 2, jpegSegment(otherBox))],
    ['behind fill bytes of a JPEG', 'jpeg', (file) => insert(file, 2, Buffer.from([0xff, 0xff]))],
    ['behind a marker without a length', 'jpeg', (file) => insert(file, 2, Buffer.from([0xff, 0x01]))],
    [
      'behind a chunk of odd length of a WebP',
      'webp',
      (file) => insert(file, 30, webpChunk('EXIF', Buffer.alloc(7))),
    ],
  ])('A manifest %s is found', (_where, format, change) => {
    expect(read(format, change(withManifest(format, plain(format))))).toBe('present');
  });

  it('A manifest whose box has a long length is found', () => {
    expect(read('jpeg', insert(plain('jpeg'), 2, jpegSegment(longBox)))).toBe('present');
  });

  it.each<[string, OutputFormat, Buffer]>([
    ['a JPEG whose box is of another kind', 'jpeg', insert(plain('jpeg'), 2, jpegSegment(otherBox))],
    [
      'a JPEG whose segment ends inside its box',
      'jpeg',
      insert(plain('jpeg'), 2, jpegSegment(manifest.subarray(0, 30))),
    ],
    [
      'a JPEG with a manifest behind its first scan',
      'jpeg',
      Buffer.concat([plain('jpeg'), jpegSegment(manifest)]),
    ],
    [
      'a PNG with a manifest behind its end',
      'png',
      Buffer.concat([plain('png'), pngChunk('caBX', manifest)]),
    ],
    [
      'a PNG whose text names the chunk',
      'png',
      insert(plain('png'), 33, pngChunk('tEXt', Buffer.from('caBX caBXcaBX'))),
    ],
    [
      'a WebP whose data name the chunk',
      'webp',
      Buffer.concat([plain('webp'), webpChunk('EXIF', Buffer.from('C2PAC2PA'))]),
    ],
  ])('There are none in %s', (_what, format, file) => {
    expect(read(format, file)).toBe('absent');
  });

  it.each(outputFormats)(
    'A manifest of a %s that is cut off in its head is none, and nothing is thrown',
    (format) => {
      const file = withManifest(format, plain(format));
      const answers = Array.from({ length: 200 }, (_, end) => read(format, file.subarray(0, end)));
      expect(answers[30]).toBe('absent');
      expect(new Set(answers)).toEqual(new Set(['absent', 'present']));
      // If the first bytes say "present", more bytes never say otherwise.
      expect(answers.indexOf('present')).toBe(answers.lastIndexOf('absent') + 1);
    },
  );
});

/** The bytes, with a count of the reads and of the reads beside the file. */
function watched(bytes: Uint8Array): { file: Uint8Array; reads: number; outside: number } {
  const seen = { file: bytes, reads: 0, outside: 0 };
  seen.file = new Proxy(bytes, {
    get: (target, name) => {
      if (typeof name === 'string' && /^-?\d+$/.test(name)) {
        seen.reads += 1;
        if (Number(name) < 0 || Number(name) >= target.length) seen.outside += 1;
      }
      return Reflect.get(target, name, target) as unknown;
    },
  });
  return seen;
}

describe('A hostile file', () => {
  const heads: Readonly<Record<OutputFormat, Buffer>> = {
    png: plain('png').subarray(0, 33),
    jpeg: Buffer.from([0xff, 0xd8]),
    webp: plain('webp'),
  };
  const pieces = fc.array(
    fc.oneof(
      fc.uint8Array({ maxLength: 24 }),
      fc.constantFrom(
        Buffer.alloc(40),
        Buffer.alloc(40, 0xff),
        Buffer.from([0xff, 0xeb, 0, 0]),
        Buffer.from([0xff, 0xeb, 0xff, 0xff]),
        jpegSegment(manifest),
        jpegSegment(longBox),
        pngChunk('caBX', manifest),
        webpChunk('C2PA', manifest),
      ),
    ),
    { maxLength: 12 },
  );

  it.each(outputFormats)('A hostile %s costs a bounded number of reads, all inside the file', (format) => {
    fc.assert(
      fc.property(pieces, fc.nat(400), (parts, cut) => {
        const whole = Buffer.concat([heads[format], ...parts]);
        const seen = watched(Uint8Array.from(whole.subarray(0, Math.max(12, whole.length - cut))));
        expect(['present', 'absent']).toContain(read(format, seen.file));
        expect(seen.outside).toBe(0);
        expect(seen.reads).toBeLessThan(100 + 40 * seen.file.length);
      }),
      { numRuns: 500 },
    );
  });
});

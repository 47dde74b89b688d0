import { describe, expect, it } from 'vitest';
import type { AspectRatio } from '../../core/image-formats.ts';
import { judgeImage } from '../../core/rendered-image.ts';
import { pictureOf } from '../../tools/vendors/fakes/pictures.ts';

const judged = (width: number, height: number, aspectRatio: AspectRatio) =>
  judgeImage(pictureOf('png', width, height), { outputFormat: 'png', aspectRatio });

describe('the judgement of an image that a provider sent', () => {
  it('An image of the asked type and ratio is good, and its type and pixels are known', () => {
    expect(judged(1024, 512, '1:1')).toEqual({
      kind: 'good',
      header: { contentType: 'image/png', width: 1024, height: 512 },
      isOfAskedRatio: false,
    });
    expect(judged(1536, 1024, '3:2')).toMatchObject({ kind: 'good', isOfAskedRatio: true });
    expect(judged(1024, 1536, '3:2')).toMatchObject({ kind: 'good', isOfAskedRatio: false });
    expect(judged(1024, 1536, '2:3')).toMatchObject({ kind: 'good', isOfAskedRatio: true });
  });

  // The tolerance is a tenth of the asked ratio. Floats put an image of exactly one tenth outside of it.
  it.each([
    [1_099, 1_000, true],
    [1_101, 1_000, false],
    [901, 1_000, true],
    [899, 1_000, false],
    [5, 4, false],
    [1, 1, true],
  ])(
    'An image of %d x %d pixels is good, and has the asked ratio 1:1: %j',
    (width, height, isOfAskedRatio) => {
      expect(judged(width, height, '1:1')).toMatchObject({ kind: 'good', isOfAskedRatio });
    },
  );

  it('An image of 1536 x 640 pixels has the ratio 21:9, because vendors round to this size', () => {
    expect(judged(1_536, 640, '21:9')).toMatchObject({ isOfAskedRatio: true });
  });

  it('An image of another type is unusable, and the detail names both types', () => {
    expect(judgeImage(pictureOf('png', 64, 64), { outputFormat: 'jpeg', aspectRatio: '1:1' })).toEqual({
      kind: 'unusable',
      detail: 'image/png instead of jpeg',
    });
  });

  it('Bytes that are no image are unusable, and the detail says how many bytes there are', () => {
    const asked = { outputFormat: 'png', aspectRatio: '1:1' } as const;
    expect(judgeImage(new Uint8Array(7), asked)).toEqual({
      kind: 'unusable',
      detail: 'no image in 7 bytes',
    });
  });
});

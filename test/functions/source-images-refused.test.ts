/** The refusals of source images, the copies, and which downloads go on after a failure. */
import { describe, expect, it } from 'vitest';
import type { ImageStore } from '../../core/ports/images.ts';
import type { SourceResult } from '../../core/ports/outbound.ts';
import { jpeg, png, webp } from '../api/image-files.ts';
import { pngOf, stub } from './fakes.ts';
import { accepting, post, type Stage } from './serve-fixture.ts';

const fetched = (width: number, height: number): SourceResult => ({
  kind: 'fetched',
  bytes: pngOf(width, height),
});
const good = fetched(64, 64);
const urls = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => `https://images.test/${index}`);
const withImages = (count: number): object => ({
  model: 'sandbox-pro',
  prompt: 'a pier',
  image_urls: urls(count),
});

function giving(...results: readonly SourceResult[]): Stage {
  return accepting({
    fetchSource: async (url) => Promise.resolve(results[Number(url.split('/').at(-1))] ?? good),
  });
}

/** Status and error of a request whose second source image is this. */
async function refusalOf(second: SourceResult): Promise<unknown> {
  const answer = await post(giving(good, second), withImages(2));
  return [answer.status, answer.body];
}

describe('a source image that cannot be used', () => {
  it.each<[string, SourceResult, string, string]>([
    [
      'from an address that is refused',
      { kind: 'refused', why: 'must lead to public addresses only' },
      'refused_target',
      'must lead to public addresses only',
    ],
    ['of more than 10 MB', { kind: 'too_large' }, 'too_large', 'must have at most 10 MB'],
    [
      'of another type',
      { kind: 'fetched', bytes: Buffer.from('GIF89a') },
      'unsupported_type',
      'must be a JPEG, PNG or WebP image',
    ],
    [
      'that is too narrow',
      fetched(63, 64),
      'invalid_size',
      'each side must have 64 to 8192 pixels; this has 63 x 64',
    ],
    [
      'that is too low',
      fetched(64, 63),
      'invalid_size',
      'each side must have 64 to 8192 pixels; this has 64 x 63',
    ],
    [
      'that is too wide',
      fetched(8_193, 64),
      'invalid_size',
      'each side must have 64 to 8192 pixels; this has 8193 x 64',
    ],
    [
      'that is too high',
      fetched(64, 8_193),
      'invalid_size',
      'each side must have 64 to 8192 pixels; this has 64 x 8193',
    ],
    [
      'of one row more than 25 megapixels',
      fetched(5_000, 5_001),
      'too_many_pixels',
      'must have at most 25 megapixels; this has 5000 x 5001',
    ],
  ])('A source image %s is refused with its place and the reason', async (_what, second, code, message) => {
    const field = 'image_urls[1]';
    expect(await refusalOf(second)).toEqual([
      400,
      {
        error: {
          code: 'ERR_INVALID_REQUEST',
          message: `${field}: ${message}`,
          details: { errors: [{ field, code, message }] },
        },
      },
    ]);
  });

  it.each([true, false])('A download that failed is answered 502 with retryable: %j', async (retryable) => {
    expect(await refusalOf({ kind: 'failed', retryable })).toEqual([
      502,
      {
        error: {
          code: 'ERR_INPUT_FETCH_FAILED',
          message: 'The source image 1 could not be downloaded. Nothing was started and nothing was charged.',
          details: { reason: 'input_fetch_failed', retryable, input_index: 1 },
        },
      },
    ]);
  });

  it.each([
    [64, 64],
    [64, 8_192],
    [3_051, 8_192],
    [5_000, 5_000],
  ])('A source image of %i x %i pixels is accepted', async (width, height) => {
    const stage = giving(fetched(width, height));
    expect((await post(stage, withImages(1))).status).toBe(202);
    expect(stage.orders[0]?.creations[0].sources).toMatchObject([{ width, height }]);
  });
});

describe('the copies of the source images', () => {
  it('Each copy has a name that cannot be guessed, the true type and its number of bytes', async () => {
    const stage = giving(fetched(64, 128));
    await post(stage, withImages(1));
    const name = Buffer.from(Array.from({ length: 24 }, (_, index) => index)).toString('base64url');
    const copy = {
      key: `sources/${name}.png`,
      contentType: 'image/png',
      width: 64,
      height: 128,
      bytes: pngOf(64, 128).byteLength,
    };
    expect(stage.stored).toEqual([copy]);
    expect(stage.orders[0]?.creations[0].sources).toEqual([copy]);
  });

  it.each([
    ['png', 'png', png(64, 64)],
    ['jpeg', 'jpg', jpeg(64, 64)],
    ['webp', 'webp', webp(64, 64)],
  ])('The copy of a %s file is named .%s', async (type, ending, bytes) => {
    const stage = giving({ kind: 'fetched', bytes });
    await post(stage, withImages(1));
    expect(stage.stored).toMatchObject([{ contentType: `image/${type}` }]);
    expect(stage.stored[0]?.key).toMatch(new RegExp(`^sources/[\\w-]{32}\\.${ending}$`));
  });

  it('The copies keep the order of the request, however long each download takes', async () => {
    const doors = urls(3).map(() => Promise.withResolvers<SourceResult>());
    const stage = accepting({
      fetchSource: async (url) => (doors[Number(url.split('/').at(-1))] ?? doors[0])?.promise ?? good,
    });
    const answering = post(stage, withImages(3));
    for (const index of [2, 0, 1]) {
      doors[index]?.resolve(fetched(100 + index, 64));
      await new Promise(setImmediate);
    }
    expect((await answering).status).toBe(202);
    expect(stage.orders[0]?.creations[0].sources.map(({ width }) => width)).toEqual([100, 101, 102]);
  });

  it('No image is copied when one of them cannot be used', async () => {
    const stage = giving(good, { kind: 'too_large' });
    await post(stage, withImages(2));
    expect(stage.stored).toEqual([]);
  });

  it('The copies are stored before the charge', async () => {
    const stored = Promise.withResolvers<undefined>();
    const stage = accepting({
      fetchSource: async () => Promise.resolve(good),
      services: { images: stub<ImageStore>({ put: async () => stored.promise }) },
    });
    const answering = post(stage, withImages(1));
    await new Promise(setImmediate);
    expect(stage.orders).toEqual([]);
    stored.resolve(undefined);
    expect((await answering).status).toBe(202);
  });

  it('The downloads release every limit of the clock', async () => {
    const well = giving(good);
    await post(well, withImages(1));
    const refused = giving({ kind: 'too_large' });
    await post(refused, withImages(1));
    expect([well.clock.held, refused.clock.held]).toEqual([0, 0]);
  });
});

describe('one failure among several downloads', () => {
  /** Downloads that end when the test says so. Each tells whether it was ended from outside. */
  function downloads(count: number): {
    readonly stage: Stage;
    readonly answering: ReturnType<typeof post>;
    readonly end: (index: number, result: SourceResult) => Promise<void>;
    /** The places of the downloads that were begun and ended from outside. */
    readonly aborted: () => number[];
  } {
    const doors = urls(count).map(() => Promise.withResolvers<SourceResult>());
    const signals: AbortSignal[] = [];
    const stage = accepting({
      fetchSource: async (url, signal) => {
        const index = Number(url.split('/').at(-1));
        signals[index] = signal;
        return doors[index]?.promise ?? good;
      },
    });
    return {
      stage,
      answering: post(stage, withImages(count)),
      end: async (index, result) => {
        doors[index]?.resolve(result);
        await new Promise(setImmediate);
      },
      aborted: () =>
        Object.keys(signals)
          .map(Number)
          .filter((index) => signals[index]?.aborted),
    };
  }

  it('The downloads with a later place are ended, and those with an earlier place go on', async () => {
    const { stage, answering, end, aborted } = downloads(6);
    await new Promise(setImmediate);
    await end(1, { kind: 'too_large' });
    expect(aborted()).toEqual([2, 3]);
    for (const index of [2, 3]) await end(index, { kind: 'failed', retryable: true });
    expect(aborted()).toEqual([2, 3]);
    await end(0, good);
    expect((await answering).body).toHaveProperty('error.details.errors[0].field', 'image_urls[1]');
    expect(stage.fetched).toEqual(urls(4));
  });

  it('A later failure with an earlier place decides the refusal', async () => {
    const { answering, end, aborted } = downloads(4);
    await new Promise(setImmediate);
    await end(2, { kind: 'too_large' });
    expect(aborted()).toEqual([3]);
    await end(0, { kind: 'too_large' });
    expect(aborted()).toEqual([1, 2, 3]);
    for (const index of [1, 3]) await end(index, { kind: 'failed', retryable: true });
    expect((await answering).body).toHaveProperty('error.details.errors[0].field', 'image_urls[0]');
  });

  it('A later failure with a later place does not change the refusal', async () => {
    const { answering, end } = downloads(3);
    await new Promise(setImmediate);
    await end(0, { kind: 'too_large' });
    await end(1, { kind: 'failed', retryable: true });
    await end(2, { kind: 'failed', retryable: true });
    expect((await answering).body).toHaveProperty('error.details.errors[0].field', 'image_urls[0]');
  });
});

/** The refusals of source images, the copies, and which downloads go on after a failure. */
import { describe, expect, it } from 'vitest';
import { rendererSizes } from '../../lib/renderer-sizes.ts';
import type { StartOutcome } from '../../service/aws/step-functions.ts';
import type { ChargeStore } from '../../service/creations/charge-store.ts';
import type { Refund } from '../../service/creations/refund.ts';
import type { CreationStore } from '../../service/creations/creation-store.ts';
import type { Executions } from '../../service/creations/executions.ts';
import type { ImageStore } from '../../service/creations/image-store.ts';
import { maxSourceBytes } from '../../service/contract/limits.ts';
import { mostWebpPixels } from '../../service/generate/mask-problem.ts';
import type { SourceResult } from '../../service/outbound/outbound.ts';
import { Overloaded } from '../../service/values/errors.ts';
import { pngOf, stub } from '../api/fakes.ts';
import { accepting, post, type Stage } from '../api/serve-fixture.ts';
import { accountId, aCreation, namedRequest, now } from '../fixtures/records.ts';
import { jpeg, png, webp } from '../whole/image-origin.ts';
import { answering, never, openLimits, outbound, recordingServer } from '../outbound/recording-server.ts';

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

describe('the copies of the source images', () => {
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

describe('a mask', () => {
  const masked = (mask: SourceResult, change: object = {}, source = fetched(300, 200)) => {
    const stage = giving(source, mask);
    const answering = post(stage, { ...withImages(1), mask_url: 'https://images.test/1', ...change });
    return { stage, answering };
  };

  it('is copied beside its source image, and the record of the creation has both', async () => {
    const { stage, answering } = masked(fetched(300, 200));
    expect((await answering).status).toBe(202);
    const [source, mask] = stage.stored;
    expect(mask?.key).toMatch(/^sources\/[\w-]{32}\.png$/);
    expect(stage.orders[0]?.creations[0]).toMatchObject({ sources: [source], mask, costMicros: 70_000 });
  });

  it.each<[string, SourceResult, string, RegExp]>([
    ['of another size', fetched(200, 300), 'invalid_size', /must be 300 x 200, as .*; this is 200 x 300/],
    ['as a JPEG', { kind: 'fetched', bytes: jpeg(300, 200) }, 'unsupported_type', /PNG/],
    [
      'that is interlaced',
      { kind: 'fetched', bytes: Buffer.from(pngOf(300, 200)).fill(1, 28, 29) },
      'unsupported_type',
      /without interlacing/,
    ],
    ['that is no image', { kind: 'fetched', bytes: Buffer.from('<html>') }, 'unsupported_type', /JPEG, PNG/],
    ['that is too large', { kind: 'too_large' }, 'too_large', /10 MB/],
  ])('%s is refused before the charge, and nothing is copied', async (_what, mask, code, message) => {
    const { stage, answering } = masked(mask);
    const answer = await answering;
    expect(answer.status).toBe(400);
    expect(answer.body).toHaveProperty('error.details.errors', [
      { field: 'mask_url', code, message: expect.stringMatching(message) as string },
    ]);
    expect([stage.orders, stage.stored]).toEqual([[], []]);
  });

  const withChunk = (type: string): Buffer => {
    const file = Buffer.from(pngOf(300, 200));
    const chunk = Buffer.alloc(12 + 6);
    chunk.writeUInt32BE(6);
    chunk.write(type, 4);
    return Buffer.concat([file.subarray(0, 33), chunk, file.subarray(33)]);
  };
  const ofColour = (colour: number, file: Buffer): Buffer => Buffer.from(file).fill(colour, 25, 26);
  const ofCmyk = (): Buffer => {
    const file = Buffer.from(jpeg(300, 200));
    return file.fill(4, file.indexOf(Buffer.of(0xff, 0xc0)) + 9, file.indexOf(Buffer.of(0xff, 0xc0)) + 10);
  };

  it.each<[string, Buffer, RegExp | undefined]>([
    ['an interlaced PNG', Buffer.from(pngOf(300, 200)).fill(1, 28, 29), /must not be an interlaced PNG/],
    ['a PNG with a transparent colour', ofColour(2, withChunk('tRNS')), /a transparent colour \(tRNS\)/],
    ['a PNG of a palette with opacities', ofColour(3, withChunk('tRNS')), undefined],
    ['a PNG with other chunks', ofColour(2, withChunk('gAMA')), undefined],
    ['a JPEG of CMYK', ofCmyk(), /must not be a JPEG of CMYK/],
    ['a JPEG', jpeg(300, 200), undefined],
    ['an animated WebP', Buffer.from(webp(300, 200)).fill(2, 20, 21), /must not be an animated WebP/],
    ['a WebP', webp(300, 200), undefined],
  ])('for %s is refused before the charge if its pixels are not read', async (_what, source, message) => {
    const bytes = { kind: 'fetched', bytes: source } as const;
    const { stage, answering } = masked(fetched(300, 200), {}, bytes);
    const answer = await answering;
    expect([answer.status, stage.orders.length]).toEqual(message ? [400, 0] : [202, 1]);
    const words = expect.stringMatching(message ?? /^$/) as string;
    const error = { field: 'image_urls[0]', code: 'unsupported_type', message: words };
    if (message) expect(answer.body).toHaveProperty('error.details.errors', [error]);
    expect((await post(giving(bytes), withImages(1))).status).toBe(202);
  });

  it.each([
    [4_358, 202],
    [4_359, 400],
  ])(
    'for a square WebP with a side of %i pixels is answered with %i: 19 megapixels are the limit',
    async (side, status) => {
      const source = { kind: 'fetched', bytes: webp(side, side) } as const;
      const mask = { kind: 'fetched', bytes: png(side, side) } as const;
      expect((await masked(mask, {}, source).answering).status).toBe(status);
    },
  );

  it('for the largest WebP fits into the memory of the renderer', () => {
    // service/platform/lambda.ts gives a sixth of the memory to a picture.
    const decoded = mostWebpPixels * 8 + 2 * maxSourceBytes;
    expect(decoded).toBeLessThan((rendererSizes.any.memoryMegabytes * 2 ** 20) / 6);
  });

  it('that cannot be downloaded is a 502 without an input_index', async () => {
    const { body } = await masked({ kind: 'failed', retryable: true }).answering;
    expect(body).toMatchObject({
      error: { code: 'ERR_INPUT_FETCH_FAILED', message: expect.stringContaining('The mask') as string },
    });
    expect(body).not.toHaveProperty('error.details.input_index');
  });

  it.each<[string, object, SourceResult, string | RegExp]>([
    ['none is named: the nearest one', {}, fetched(300, 200), '3:2'],
    ['none is named, and the default would do, too', {}, fetched(270, 250), '1:1'],
    ['none is named: another route of the model', { resolution: '4K' }, fetched(420, 180), '21:9'],
    ['that of the source is named', { aspect_ratio: '4:3' }, fetched(420, 300), '4:3'],
    ['another is named', { aspect_ratio: '1:1' }, fetched(300, 200), /300 x 200, so the ratio must be: 3:2/],
    ['no route renders one', {}, fetched(300, 100), /300 x 100, .*: none/],
    [
      'one that the routes of 1K lack is needed',
      { resolution: '1K' },
      fetched(420, 180),
      /420 x 180, .*: none/,
    ],
  ])('has the ratio of its source image when %s', async (_when, change, image, expected) => {
    const { stage, answering } = masked(image, change, image);
    const answer = await answering;
    const ratio = stage.orders[0]?.creations[0].aspectRatio;
    if (typeof expected === 'string') expect([answer.status, ratio]).toEqual([202, expected]);
    else
      expect(answer.body).toHaveProperty('error.details.errors', [
        { field: 'aspect_ratio', code: 'invalid_value', message: expect.stringMatching(expected) as string },
      ]);
  });
});

describe('one failure among several downloads', () => {
  /** Downloads that end when the test says so. Each notes whether it was aborted. */
  function downloads(count: number): {
    readonly stage: Stage;
    readonly answering: ReturnType<typeof post>;
    readonly end: (index: number, result: SourceResult) => Promise<void>;
    /** The indexes of the downloads that began and were aborted. */
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

  it('The downloads with a higher index are ended, and those with a lower index continue', async () => {
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

  it('A later failure with a lower index decides the refusal', async () => {
    const { answering, end, aborted } = downloads(4);
    await new Promise(setImmediate);
    await end(2, { kind: 'too_large' });
    expect(aborted()).toEqual([3]);
    await end(0, { kind: 'too_large' });
    expect(aborted()).toEqual([1, 2, 3]);
    for (const index of [1, 3]) await end(index, { kind: 'failed', retryable: true });
    expect((await answering).body).toHaveProperty('error.details.errors[0].field', 'image_urls[0]');
  });

  it('A later failure with a higher index does not change the refusal', async () => {
    const { answering, end } = downloads(3);
    await new Promise(setImmediate);
    await end(0, { kind: 'too_large' });
    await end(1, { kind: 'failed', retryable: true });
    await end(2, { kind: 'failed', retryable: true });
    expect((await answering).body).toHaveProperty('error.details.errors[0].field', 'image_urls[0]');
  });
});

const body = { model: 'sandbox-standard', prompt: 'a pier' };

/** The id of a creation that is made at the fixture's time with the fixture's random bytes. */
const id = '01a1fdfa-bb30-7607-8809-0a0b0c0d0e0f';

/** What becomes of a charged creation whose execution cannot be started. */
describe('an execution that cannot be started', () => {
  interface Refused extends Stage {
    readonly refunds: readonly Refund[];
  }

  /** Services whose start and refund have the given outcomes. An error makes the refund throw. */
  function refusing(
    outcomes: StartOutcome | readonly StartOutcome[],
    refund: Awaited<ReturnType<ChargeStore['refund']>> | Error = 'refunded',
    readAs?: ReturnType<typeof aCreation> | Error,
  ): Refused {
    const refunds: Refund[] = [];
    const starts = [outcomes].flat();
    const stage = accepting({
      services: {
        executions: stub<Executions>({ start: async () => Promise.resolve(starts.shift() ?? 'started') }),
        charges: stub<ChargeStore>({
          countStart: () => Promise.resolve(),
          charge: async () => Promise.resolve({ kind: 'charged' }),
          refund: async (_creation, asked) => {
            refunds.push(asked);
            return refund instanceof Error ? Promise.reject(refund) : Promise.resolve(refund);
          },
        }),
        creations: stub<CreationStore>({
          read: async () => (readAs instanceof Error ? Promise.reject(readAs) : Promise.resolve(readAs)),
        }),
      },
    });
    return { ...stage, refunds };
  }

  const ids = { requestId: namedRequest, accountId };
  const alarm = ['alarm start_refused', { ...ids, creationId: id, executionId: id }];

  it('The charge is given back in full without a webhook, and the answer says so', async () => {
    const stage = refusing('refused');
    const answer = await post(stage, body);
    expect(answer.body).toEqual({
      error: {
        code: 'ERR_PROVIDER_UNAVAILABLE',
        message: 'The creation could not be started. Its charge was given back in full.',
        details: { reason: 'provider_unavailable', creation_id: id },
      },
    });
    expect(answer.headers?.['retry-after']).toBe('30');
    expect(stage.refunds).toEqual([{ failure: 'ServiceUnavailable', nowMillis: now, announce: false }]);
    expect(stage.log.entries).toEqual([
      alarm,
      [
        'info creation_failed',
        { ...ids, creationId: id, failure: 'ServiceUnavailable', refundedMicros: 40_000 },
      ],
    ]);
  });

  it.each<[string, Parameters<typeof refusing>[1], ReturnType<typeof aCreation> | undefined, number]>([
    ['stands when the table is too busy to refund', 'busy', undefined, 202],
    ['stands when it completed meanwhile', 'already_terminal', aCreation({ status: 'completed' }), 202],
    ['stands when it is not there any more', 'already_terminal', undefined, 202],
    ['was refunded when it failed meanwhile', 'already_terminal', aCreation({ status: 'failed' }), 503],
  ])('The creation %s', async (_what, refund, readAs, status) => {
    const stage = refusing('refused', refund, readAs);
    expect((await post(stage, body)).status).toBe(status);
    expect(stage.log.entries).toEqual([alarm]);
  });

  it('Of several creations, those that started are accepted, also when the others cannot be read after their refund', async () => {
    const stage = refusing(['started', 'refused'], 'refunded', new Overloaded('the table stayed busy'));
    const answer = await post(stage, { ...body, count: 2 });
    expect([answer.status, answer.body]).toMatchObject([202, { data: [{ id }, { status: 'queued' }] }]);
    expect(stage.refunds).toHaveLength(1);
    expect(stage.log.entries.at(-1)).toMatchObject(['info refund_unread', { error: 'Overloaded' }]);
  });

  it('The creation stays accepted when the outcome of the refund is unknown, and the log names the error', async () => {
    const stage = refusing('refused', new TypeError('details'));
    expect((await post(stage, body)).status).toBe(202);
    expect(stage.log.entries).toEqual([
      alarm,
      ['info refund_unclear', { ...ids, creationId: id, error: 'TypeError' }],
    ]);
  });

  it('The creation stays accepted when it is unclear whether its execution started', async () => {
    const stage = refusing('unclear');
    expect((await post(stage, body)).status).toBe(202);
    expect(stage.refunds).toEqual([]);
    expect(stage.log.entries).toMatchObject([
      ['info creation_accepted', { started: 'unclear' }],
      ['info start_unclear', { creationId: id }],
    ]);
  });
});

const server = await recordingServer();

describe('A source image that is fetched', () => {
  it('A source image is requested with these headers and without a body', async () => {
    server.answerBy(answering(200, 'bytes'));
    const clock = openLimits();
    expect(await outbound({ clock }).fetchSource(server.url('/a.png'), never)).toEqual({
      kind: 'fetched',
      bytes: Buffer.from('bytes'),
    });
    expect(server.received.map(({ line, headers }) => [line, headers])).toEqual([
      [
        'GET /a.png',
        {
          host: `127.0.0.1:${server.port}`,
          connection: 'close',
          'user-agent': 'Darkroom/1',
          accept: 'image/jpeg, image/png, image/webp',
          'accept-encoding': 'identity',
        },
      ],
    ]);
    expect([clock.asked, clock.released()]).toEqual([[5_000], 1]);
  });

  it('A redirect without a location fails, and a location that is no URL is refused', async () => {
    server.answerBy(answering(302));
    expect(await outbound().fetchSource(server.url(), never)).toEqual({ kind: 'failed', retryable: false });
    server.answerBy(answering(302, '', { location: 'http://[' }));
    expect(await outbound().fetchSource(server.url(), never)).toEqual({
      kind: 'refused',
      why: 'must be an http or https address',
    });
  });
});

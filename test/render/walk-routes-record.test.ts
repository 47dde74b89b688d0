/** What a walk over the routes writes down, asks of a provider and logs. */
import { describe, expect, it } from 'vitest';
import { readProviderCosts } from '../../admin/catalog/catalog-files.ts';
import type { CreationRecord, StoredImage } from '../../service/creations/creation.ts';
import { Overloaded } from '../../service/values/errors.ts';
import { asMicros } from '../../service/values/money.ts';
import type { ImageProvider, ProviderAnswer, RenderJob } from '../../service/vendors/provider.ts';
import { fakeProvider, pngBytes, rejection, failureOf } from '../api/fakes.ts';
import { now, seededBytes, storedImage } from '../fixtures/records.ts';
import { begun, bothRoutes, failsAt, pending, refused, rendered, walk, walkOver } from './walk-fixture.ts';

const random = Buffer.from(seededBytes(24)).toString('base64url');

describe('the record of an attempt', () => {
  it.each([
    ['png', 'png'],
    ['jpeg', 'jpg'],
    ['webp', 'webp'],
  ] as const)('The key of a %s image ends in .%s', async (outputFormat, ending) => {
    const { result, saved } = walk(
      { outputFormat },
      { providers: [fakeProvider('first', refused('failed'))] },
    );
    await rejection(result);
    expect(saved[0]?.[0]?.resultKey).toBe(`results/${random}.${ending}`);
  });

  it('The record says when the attempt began and ended, and which route it took', async () => {
    const routes = [{ provider: 'first', providerModel: 'a', quality: 'low' }];
    const first = fakeProvider('first', pending('job-1', 700), rendered);
    const { attempts } = await walk({ routes }, { providers: [first] }).result;
    expect(attempts).toEqual([
      {
        provider: 'first',
        providerModel: 'a',
        quality: 'low',
        startedAt: '2026-11-21T12:00:30.000Z',
        endedAt: '2026-11-21T12:00:30.700Z',
        resultKey: `results/${random}.png`,
        jobId: 'job-1',
        outcome: 'rendered',
      },
    ]);
  });

  it.each([
    ['without source images', [], 6_000],
    ['with two source images', [storedImage, storedImage], 46_000],
  ] as const)(
    'The record of an attempt %s says what the vendor bills for the image, before the vendor is asked',
    async (_case, sources, providerCostMicros) => {
      const routes = [
        { provider: 'openai', providerModel: 'gpt-image-2', quality: 'low' },
        { provider: 'second', providerModel: 'b' },
      ];
      const { result, saved } = walk(
        { routes, sources },
        {
          providers: [fakeProvider('openai', refused('unavailable')), fakeProvider('second', rendered)],
          providerCosts: readProviderCosts(),
        },
      );
      const { attempts } = await result;
      expect(saved[0]).toMatchObject([{ provider: 'openai', providerCostMicros }]);
      expect(attempts).toMatchObject([
        { outcome: 'unavailable', providerCostMicros },
        { outcome: 'rendered' },
      ]);
      expect(attempts[1], 'a route that the costs do not know').not.toHaveProperty('providerCostMicros');
    },
  );

  it('The record of an attempt has what the answer said that the picture costs, also of one that is unusable', async () => {
    const billedMicros = asMicros(5_950);
    for (const bytes of [pngBytes, Buffer.from('<html>')]) {
      const first = fakeProvider('first', { kind: 'rendered', bytes, billedMicros });
      const { result, saved } = walkOver([first]);
      const attempts = await result.then(
        (rendering) => rendering.attempts,
        () => saved.at(-1),
      );
      expect(attempts).toMatchObject([{ provider: 'first', billedMicros }]);
    }
  });

  it('The bill of a picture costs no further write of the record', async () => {
    const saves = async (answer: ProviderAnswer): Promise<number> => {
      const { result, saved } = walkOver([fakeProvider('first', answer)]);
      await result;
      return saved.length;
    };
    const plain = { kind: 'rendered', bytes: pngBytes } as const;
    expect(await saves({ ...plain, billedMicros: asMicros(1) })).toBe(await saves(plain));
  });

  it('The provider gets the prices of its route, and the record keeps the price of a unit', async () => {
    const jobs: RenderJob[] = [];
    const tokens = { text_in: 5, image_in: 8, image_out: 30, text_out: null };
    const first = {
      ...fakeProvider('openai', rendered),
      submit: async (job: RenderJob) => {
        jobs.push(job);
        return Promise.resolve(rendered);
      },
    };
    const cost = {
      provider: 'openai' as const,
      provider_model: 'm',
      quality: null,
      images: [],
      source: null,
      checked_at: '2026-11-23',
    };
    const { result, saved } = walk(
      { routes: [{ provider: 'openai', providerModel: 'm' }] },
      { providers: [first], providerCosts: { costs: [{ ...cost, tokens, usd_per_unit: 0.005 }] } },
    );
    await result;
    expect(jobs).toMatchObject([{ tokenPrices: tokens, unitMicros: 5_000 }]);
    expect(saved[0]).toMatchObject([{ unitMicros: 5_000 }]);
  });

  it('An attempt that an earlier release began gets no cost of this release', async () => {
    const { result } = walk(
      {
        attempts: [{ ...begun, provider: 'sandbox', providerModel: 'standard', jobId: 'job-1' }],
        routes: [{ provider: 'sandbox', providerModel: 'standard' }],
      },
      { providers: [fakeProvider('sandbox', rendered)], providerCosts: readProviderCosts() },
    );
    const [attempt] = (await result).attempts;
    expect(attempt).toMatchObject({ outcome: 'rendered' });
    expect(attempt).not.toHaveProperty('providerCostMicros');
  });

  it('The record of a provider that does not exist says so', async () => {
    const { result } = walkOver([fakeProvider('second', rendered)]);
    expect((await result).attempts).toMatchObject([
      { outcome: 'unavailable', detail: 'no such provider' },
      { outcome: 'rendered' },
    ]);
  });

  it('No record is written when the time was over before', async () => {
    const { result, saved } = walkOver([fakeProvider('first')], { deadlineAt: now });
    await rejection(result);
    expect(saved).toEqual([[]]);
  });

  it('An attempt that was begun before is continued in its row, and is not saved before its poll', async () => {
    const attempts = [
      { ...begun, jobId: 'job-1' },
      { ...begun, provider: 'second', providerModel: 'b', outcome: 'unavailable' as const },
    ];
    const { result, saved } = walk({ attempts }, { providers: [fakeProvider('first', rendered)] });
    expect((await result).attempts).toEqual([
      { ...attempts[0], endedAt: '2026-11-21T12:00:30.000Z', outcome: 'rendered' },
      attempts[1],
    ]);
    expect(saved).toEqual([]);
  });

  it('A stored image that is found leaves the other attempts as they were', async () => {
    const routes = [...bothRoutes.routes, { provider: 'third', providerModel: 'c' }];
    const second = { ...begun, provider: 'second', providerModel: 'b', resultKey: 'results/second.png' };
    const attempts = [{ ...begun, outcome: 'unavailable' as const }, second];
    const image: StoredImage = { ...storedImage, key: second.resultKey };
    const { result } = walk({ routes, attempts }, { providers: [], stored: [image] });
    expect(await result).toEqual({
      kind: 'rendered',
      image,
      attempts: [attempts[0], { ...second, outcome: 'rendered' }],
    });
  });

  it.each<[string, Partial<CreationRecord['routes'][number]>]>([
    ['provider', { provider: 'second' }],
    ['model', { providerModel: 'b' }],
    ['quality', { quality: 'high' }],
  ])('A record does not belong to a route of another %s', async (_what, change) => {
    const route = { provider: 'first', providerModel: 'a', quality: 'low', ...change };
    const attempts = [{ ...begun, quality: 'low', outcome: 'unavailable' as const }];
    const providers = [fakeProvider('first', rendered), fakeProvider('second', rendered)];
    const { result } = walk({ routes: [route], attempts }, { providers });
    expect((await result).attempts.map(({ outcome }) => outcome)).toEqual(['unavailable', 'rendered']);
  });

  it('A record belongs to the route of the same provider, model and quality', async () => {
    const routes = [{ provider: 'first', providerModel: 'a', quality: 'low' }];
    const attempts = [{ ...begun, quality: 'low', outcome: 'unavailable' as const }];
    const { result } = walk({ routes, attempts }, { providers: [fakeProvider('first')] });
    expect(await failureOf(result)).toBe('ServiceUnavailable');
  });
});

describe('the end of a walk', () => {
  it.each([
    [new Overloaded('busy'), 'PromptRejected', 'info attempt_not_noted'],
    [new TypeError('broken'), 'TypeError', 'info provider_answered'],
  ])('When saving its end meets %o, the walk ends with %s', async (error, failure, line) => {
    const down = fakeProvider('first', refused('prompt'));
    const { result, log } = walkOver([down], { onSave: failsAt(2, error) });
    expect(await failureOf(result)).toBe(failure);
    expect(log.lines.at(-1)).toBe(line);
  });

  it('The walk ends as GenerationTimedOut once the time is over, even if the outcome of a call is unknown', async () => {
    const { result } = walk({ attempts: [begun] }, { providers: [], deadlineAt: now });
    expect(await failureOf(result)).toBe('GenerationTimedOut');
  });
});

describe('the time of each route', () => {
  it.each([
    [1, [9_000]],
    [2, [4_500, 9_000]],
    [3, [3_000, 6_000, 9_000]],
  ])('Each of %i routes has an equal share of the time that is left', async (count, ends) => {
    const routes = Array.from({ length: count }, (_, index) => ({
      provider: `p${index}`,
      providerModel: 'm',
    }));
    const asked: number[] = [];
    const hanging = (name: string): ImageProvider => ({
      name,
      submit: async (_job, signal) =>
        new Promise((_, reject) => {
          signal.addEventListener('abort', () => {
            asked.push(clock.now() - now);
            reject(new Error('aborted'));
          });
        }),
    });
    const { result, clock } = walk(
      { routes },
      { providers: routes.map(({ provider }) => hanging(provider)), deadlineAt: now + 9_000 },
    );
    const ended = rejection(result);
    for (let at = 500; at <= 9_000; at += 500) {
      await new Promise(setImmediate);
      clock.set(now + at);
    }
    expect(await ended).toMatchObject({ name: 'GenerationTimedOut' });
    expect(asked).toEqual(ends);
    expect(clock.held).toBe(0);
  });
});

describe('the job that a provider gets', () => {
  const jobOf = async (change: Partial<CreationRecord>): Promise<RenderJob | undefined> => {
    let given: RenderJob | undefined;
    const first: ImageProvider = {
      name: 'first',
      submit: async (job) => {
        given = job;
        return Promise.resolve(refused('failed'));
      },
    };
    const get = async (key: string): Promise<Uint8Array> => Promise.resolve(Buffer.from(key));
    await rejection(walk(change, { providers: [first], get }).result);
    return given;
  };

  it('The job holds everything of the request', async () => {
    const job = await jobOf({
      routes: [{ provider: 'first', providerModel: 'a', quality: 'low' }],
      resolution: '2K',
      aspectRatio: '3:2',
      outputFormat: 'jpeg',
      seed: 42,
      sources: [storedImage, { ...storedImage, key: 'sources/2.png', width: 7, height: 8 }],
    });
    const { readSources, ...rest } = job ?? {};
    expect(rest).toEqual({
      providerModel: 'a',
      quality: 'low',
      prompt: 'a quiet lake',
      resolution: '2K',
      aspectRatio: '3:2',
      outputFormat: 'jpeg',
      seed: 42,
      sourceCount: 2,
    });
    expect(await readSources?.()).toEqual([
      { contentType: 'image/png', width: 1_024, height: 1_024, bytes: Buffer.from(storedImage.key) },
      { contentType: 'image/png', width: 7, height: 8, bytes: Buffer.from('sources/2.png') },
    ]);
  });

  it('The job has no quality when its route has none', async () => {
    expect(await jobOf({})).not.toHaveProperty('quality');
  });
});

describe('the log of a walk', () => {
  it('The log says how long an image took', async () => {
    const first = fakeProvider('first', pending('job-1', 600.4), rendered);
    const { result, log } = walkOver([first]);
    await result;
    expect(log.entries).toEqual([
      [
        'info provider_answered',
        { provider: 'first', providerModel: 'a', outcome: 'rendered', detail: undefined, millis: 600 },
      ],
    ]);
  });

  it('Bytes that are no image raise an alarm that says how many bytes they were', async () => {
    const first = fakeProvider('first', { kind: 'rendered', bytes: Buffer.from('<html>') });
    const { result, saved, log } = walkOver([first]);
    expect(await failureOf(result)).toBe('InternalFailure');
    const detail = 'no image in 6 bytes';
    expect(saved.at(-1)).toMatchObject([{ outcome: 'InternalFailure', detail }]);
    expect(log.entries.at(-1)).toMatchObject([
      'alarm provider_answer_unknown',
      { outcome: 'InternalFailure', detail },
    ]);
  });
});

/** The refusals of a request for a model that cannot be rendered as the request asks. */
import { describe, expect, it } from 'vitest';
import { pictureOf } from '../../lab/vendors/fakes/pictures.ts';
import type { Caller } from '../../service/api/admit.ts';
import type { Model } from '../../service/catalog/catalog-schema.ts';
import { allSourcesTimeoutMillis, requestMillis } from '../../service/contract/limits.ts';
import type { ImageStore } from '../../service/creations/image-store.ts';
import type { SubmitServices } from '../../service/generate/open.ts';
import type { Plan } from '../../service/generate/plan.ts';
import { quoteImage } from '../../service/generate/quote-image.ts';
import { copySources } from '../../service/generate/sources.ts';
import type { Outbound, SourceResult } from '../../service/outbound/outbound.ts';
import type { Problem } from '../../service/values/problem.ts';
import { startBudget } from '../../service/values/time.ts';
import { fakeClock, type FakeClock, pngOf, stub } from '../api/fakes.ts';
import { accepting, post } from '../api/serve-fixture.ts';
import { catalogOf, routeOf } from '../catalog/sold-catalog-fixture.ts';

describe('a request for a model that cannot be rendered as asked', () => {
  const standard = { model: 'sandbox-standard', prompt: 'a pier' };

  it('The request is accepted when its prompt is exactly as long as a route takes', async () => {
    const services = catalogOf({ routes: routeOf({ max_prompt_length: 6 }) });
    expect((await post(accepting({ services }), standard, { handle: quoteImage })).status).toBe(200);
  });

  it('The request is answered 400 when no route takes the source image as it is', async () => {
    const limits = { content_types: ['image/png'], max_bytes: 1, min_side: 64, max_side: 64, max_pixels: 9 };
    const routes = routeOf({ source_limits: limits } as Partial<Model['routes'][number]>);
    const bytes = Buffer.concat([pngOf(64, 128), Buffer.alloc(1_250_000)]);
    const stage = accepting({
      services: catalogOf({ routes }),
      fetchSource: async () => Promise.resolve({ kind: 'fetched', bytes }),
    });
    const answer = await post(stage, { ...standard, image_urls: ['https://images.test/1'] });
    const message =
      'no provider enabled for this account takes it for sandbox-standard: this is image/png of 64 x 128 pixels and 1.3 MB';
    expect([answer.status, answer.body]).toEqual([
      400,
      {
        error: {
          code: 'ERR_INVALID_REQUEST',
          message: `image_urls[0]: ${message}`,
          details: {
            reason: 'provider_policy_no_route',
            errors: [{ field: 'image_urls[0]', code: 'not_taken', message }],
          },
        },
      },
    ]);
  });
});

interface Fetching {
  readonly clock: FakeClock;
  readonly copied: Promise<unknown>;
  /** The addresses that were fetched, in order. */
  readonly asked: readonly string[];
}

/**
 * Five downloads that each take so many milliseconds of the fake clock. An aborted download fails like a real
 * one.
 */
function fetchFive(millisEach: number): Fetching {
  const clock = fakeClock();
  const asked: string[] = [];
  const fetchSource = async (url: string, signal: AbortSignal): Promise<SourceResult> => {
    asked.push(url);
    const ready = clock.deadline(clock.now() + millisEach);
    await new Promise<void>((resolve) => {
      for (const one of [ready.signal, signal])
        one.addEventListener(
          'abort',
          () => {
            resolve();
          },
          { once: true },
        );
    });
    return signal.aborted
      ? { kind: 'failed', retryable: true }
      : { kind: 'fetched', bytes: pictureOf('png', 64, 64) };
  };
  const services = {
    clock,
    budget: startBudget(clock, requestMillis),
    outbound: stub<Outbound>({ fetchSource }),
    uploads: stub<SubmitServices['uploads']>({}),
    images: stub<ImageStore>({ put: async () => Promise.resolve() }),
    randomBytes: (count: number) => new Uint8Array(count),
  } satisfies Partial<SubmitServices>;
  const imageUrls = [1, 2, 3, 4, 5].map((number) => `https://images.test/${number}`);
  const plan = stub<Plan>({ request: stub<Plan['request']>({ imageUrls }) });
  const caller = stub<Caller>({ place: stub<Caller['place']>({ take: async () => Promise.resolve() }) });
  const copied = copySources(plan, caller, services);
  return { clock, copied, asked };
}

describe('all source images of a request together', () => {
  it('The downloads run four at a time and may take 15 s together', async () => {
    const { clock, copied, asked } = fetchFive(7_000);
    await expect.poll(() => asked.length).toBe(4);
    clock.set(clock.now() + 7_000);
    await expect.poll(() => asked.length).toBe(5);
    clock.set(clock.now() + 7_000);
    await expect(copied).resolves.toHaveLength(5);
  });

  it('The downloads are given up after 15 s: the first missing image is answered 502, retryable', async () => {
    const { clock, copied, asked } = fetchFive(8_000);
    const refused = expect(copied).rejects.toMatchObject({
      status: 502,
      code: 'ERR_INPUT_FETCH_FAILED',
      details: { reason: 'input_fetch_failed', retryable: true, input_index: 4 },
    } satisfies Partial<Problem>);
    await expect.poll(() => asked.length).toBe(4);
    clock.set(clock.now() + 8_000);
    await expect.poll(() => asked.length).toBe(5);
    clock.set(clock.now() + allSourcesTimeoutMillis - 8_000);
    await refused;
  });
});

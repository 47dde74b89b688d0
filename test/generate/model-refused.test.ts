/** The refusals of a request for a model that cannot be rendered as the request asks. */
import { describe, expect, it } from 'vitest';
import { pictureOf } from '../../lab/vendors/fakes/fake-vendor.ts';
import type { Caller } from '../../service/api/admit.ts';
import type { Model, Catalog } from '../../service/catalog/catalog-schema.ts';
import { allSourcesTimeoutMillis, requestMillis } from '../../service/contract/limits.ts';
import type { ImageStore } from '../../service/creations/image-store.ts';
import type { SubmitServices } from '../../service/generate/open.ts';
import { type Plan, narrowToSources, planCreation } from '../../service/generate/plan.ts';
import { quoteImage } from '../../service/generate/quote-image.ts';
import { copySources } from '../../service/generate/sources.ts';
import type { Outbound, SourceResult } from '../../service/outbound/outbound.ts';
import { Problem } from '../../service/values/problem.ts';
import { startBudget } from '../../service/values/time.ts';
import { fakeClock, type FakeClock, pngOf, stub } from '../api/fakes.ts';
import { accepting, post } from '../api/serve-fixture.ts';
import { catalogOf, routeOf, catalog as wholeCatalog } from '../catalog/catalog-fixture.ts';
import { getCreation } from '../../service/api/creations.ts';
import { listModels } from '../../service/api/list-models.ts';
import type { QuoteServices } from '../../service/api/open.ts';
import type { RequestStore } from '../../service/api/request-store.ts';
import type { ApiRequest } from '../../service/api/request.ts';
import type { CreationStore } from '../../service/creations/creation-store.ts';
import { findReplay } from '../../service/generate/earlier-request.ts';
import { aCreation, anAccount, anApiKey, creationId, storedImage } from '../fixtures/records.ts';
import { resultsOfTests } from '../fixtures/records.ts';

describe('a request for a model that cannot be rendered as asked', () => {
  const standard = { model: 'sandbox-standard', prompt: 'a pier' };

  it('The request is accepted when its prompt is exactly as long as a route takes', async () => {
    const services = catalogOf({ routes: routeOf({ max_prompt_length: 6 }) });
    expect((await post(accepting({ services }), standard, { handle: quoteImage })).status).toBe(200);
  });

  it('The request is answered 400 when only a provider that the account may not use takes its negative prompt', async () => {
    const deaf = { ...routeOf({ provider: 'sandbox-large' })[0], max_negative_prompt_length: undefined };
    const stage = accepting({
      services: catalogOf({ routes: [...routeOf({}), deaf as Model['routes'][number]] }),
      account: { policy: { providers: ['sandbox-large'], hiddenModels: [] } },
    });
    const asked = { ...standard, negative_prompt: 'boats' };
    expect((await post(stage, standard, { handle: quoteImage })).status).toBe(200);
    const { status, body } = await post(stage, asked, { handle: quoteImage });
    expect([status, body]).toEqual([
      400,
      {
        error: {
          code: 'ERR_INVALID_REQUEST',
          message:
            'No provider enabled for this account renders sandbox-standard at 1K, 1:1, png, a negative prompt. GET /models lists what is possible.',
          details: { reason: 'provider_policy_no_route', errors: [] },
        },
      },
    ]);
  });

  const openaiKey = { state: { enabledProviders: ['openai'] } };
  const quoted = async (body: object, setting: Parameters<typeof accepting>[0] = openaiKey) =>
    post(accepting(setting), { prompt: 'a pier', ...body }, { handle: quoteImage });

  it.each([
    ['gpt-image-2', undefined, 'gpt-image-2', 0.075],
    ['gpt-image-2', 'auto', 'gpt-image-2', 0.075],
    ['gpt-image-2', 'low', 'gpt-image-2-low', 0.01],
    ['gpt-image-2', 'high', 'gpt-image-2-high', 0.3],
    ['gpt-image-2-low', 'medium', 'gpt-image-2', 0.075],
    ['gpt-image-2.5-sunburst', 'high', 'gpt-image-2.5-sunburst', 0.075],
  ])('%s in the quality %s is %s at its price', async (model, quality, id, cost) => {
    const { status, body } = await quoted({ model, ...(quality !== undefined && { quality }) });
    expect([status, body]).toMatchObject([200, { model: id, cost }]);
  });

  it('A quality that the model has not is never replaced by another', async () => {
    const { status, body } = await quoted({ model: 'gpt-image-2.6-flare', quality: 'medium' });
    const message =
      'gpt-image-2.6-flare takes no quality "medium"; models that do: sandbox-standard, sandbox-pro, gpt-image-2, gpt-image-2.5-flare';
    expect([status, body]).toMatchObject([
      400,
      { error: { details: { errors: [{ field: 'quality', code: 'unsupported_parameter', message }] } } },
    ]);
  });

  it('A quality whose model the key may not use is refused', async () => {
    const apiKey = { models: ['gpt-image-2'] } as const;
    expect((await quoted({ model: 'gpt-image-2' }, { ...openaiKey, apiKey })).status).toBe(200);
    expect((await quoted({ model: 'gpt-image-2', quality: 'low' }, { ...openaiKey, apiKey })).status).toBe(
      400,
    );
  });

  it('A quality that only a provider renders that the account may not use has no route', async () => {
    const setting = {
      state: { enabledProviders: ['openai', 'fal'], pausedProviders: ['openai#gpt-image-2#high', 'fal'] },
    };
    const { status, body } = await quoted({ model: 'gpt-image-2', quality: 'high' }, setting);
    expect([status, body]).toMatchObject([
      400,
      {
        error: {
          message: expect.stringContaining('1:1, png, quality "high".') as string,
          details: { reason: 'provider_policy_no_route' },
        },
      },
    ]);
  });

  it('A field that the model cannot honour is answered 400 with the models that the account can use for it', async () => {
    const account = { policy: { providers: ['sandbox-large'], hiddenModels: ['sandbox-pro'] } } as const;
    const asked = { model: 'gpt-image-2', prompt: 'a pier', negative_prompt: 'boats' };
    const { status, body } = await post(accepting({ account }), asked, { handle: quoteImage });
    const message = 'gpt-image-2 takes no negative prompt; models that do: sandbox-panorama';
    expect([status, body]).toMatchObject([
      400,
      {
        error: {
          details: { errors: [{ field: 'negative_prompt', code: 'unsupported_parameter', message }] },
        },
      },
    ]);
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
  const plan = stub<Plan>({ request: stub<Plan['request']>({ imageUrls, maskUrl: undefined }) });
  const caller = stub<Caller>({
    rateSlot: stub<Caller['rateSlot']>({ take: async () => Promise.resolve() }),
  });
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
    await expect(copied).resolves.toHaveProperty('sources.length', 5);
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

const sunset = Date.UTC(2027, 5, 1);
const leaving: Model = {
  ...modelNamed('sandbox-standard'),
  deprecated_at: '2026-12-01',
  sunset_at: '2027-06-01',
  successor: 'sandbox-pro',
};
const catalog: Catalog = { models: [leaving, modelNamed('sandbox-pro')] };
const announced = {
  deprecation: '@1796083200',
  sunset: 'Tue, 01 Jun 2027 00:00:00 GMT',
  link: '</api/public/v1/models>; rel="deprecation"',
};

function modelNamed(id: string): Model {
  const model = wholeCatalog.models.find((known) => known.id === id);
  if (!model) throw new Error(`the catalog has no ${id}`);
  return model;
}

function callerAt(
  nowMillis: number,
  change: Partial<Caller['state']> = {},
  providers: 'all' | string[] = 'all',
): Caller {
  const account = anAccount({ policy: { providers, hiddenModels: [] } });
  return {
    account,
    apiKey: anApiKey(),
    nowMillis,
    state: { rateCount: 0, openCreations: 0, enabledProviders: [], ...change },
    rateSlot: stub({}),
  };
}

function requestOf(body?: object): ApiRequest {
  return stub<ApiRequest>({
    query: {},
    headers: { 'content-type': 'application/json' },
    body: Buffer.from(JSON.stringify(body ?? {})),
  });
}

function services(creation = aCreation()): QuoteServices {
  return stub<QuoteServices>({
    catalog,
    outboundRules: 'public',
    results: resultsOfTests,
    creations: stub<CreationStore>({ read: () => Promise.resolve(creation) }),
    requests: stub<RequestStore>({ stampPoll: () => Promise.resolve(true) }),
  });
}

async function problemOf(work: () => unknown): Promise<Problem> {
  try {
    await work();
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}

const body = { model: leaving.id, prompt: 'a lake' };
const before = callerAt(sunset - 1);
const after = callerAt(sunset);

describe('a model with a deprecation date, before its sunset', () => {
  it('A quote has the deprecation headers', async () => {
    expect((await quoteImage(requestOf(body), before, services())).headers).toMatchObject(announced);
  });

  it('A replay has the deprecation headers', async () => {
    const record = { creationIds: [creationId] as const, requestHash: 'same', expiresAt: sunset };
    expect(await findReplay(record, { hash: 'key', requestHash: 'same' }, services())).toMatchObject({
      kind: 'replayed',
      headers: { ...announced, 'idempotent-replayed': 'true' },
    });
  });

  it('GET /creations/{id} has the deprecation headers before and after the sunset', async () => {
    for (const nowMillis of [sunset - 1, sunset]) {
      const caller = callerAt(nowMillis, { creation: aCreation() });
      expect((await getCreation(requestOf(), caller, services())).headers).toMatchObject(announced);
    }
  });

  it('A creation of another model has no deprecation headers', async () => {
    const caller = callerAt(sunset - 1, { creation: aCreation({ model: 'sandbox-pro' }) });
    expect((await getCreation(requestOf(), caller, services())).headers).not.toHaveProperty('deprecation');
  });

  it.each<[string, object, Caller, number, string]>([
    ['a field that the model cannot take', { prompt: 'x'.repeat(4_001) }, before, 400, 'prompt'],
    ['a shape that no provider renders', { resolution: '4K' }, before, 400, 'provider_policy_no_route'],
    ['no provider that is enabled', {}, callerAt(sunset - 1, {}, []), 503, 'no_provider_enabled'],
  ])('The refusal of %s has the deprecation headers', async (_what, change, caller, status, says) => {
    const problem = await problemOf(() => planCreation({ ...body, ...change }, caller, { catalog }));
    expect([problem.status, JSON.stringify(problem.details)]).toEqual([
      status,
      expect.stringContaining(says),
    ]);
    expect(problem.headers).toMatchObject(announced);
  });

  it('The refusal of a source image that no provider takes has the deprecation headers', async () => {
    const plan = planCreation(body, before, { catalog });
    const problem = await problemOf(() =>
      narrowToSources(plan, [{ ...storedImage, contentType: 'image/bmp' }]),
    );
    expect(problem.headers).toMatchObject(announced);
  });

  it('The model is listed as available', async () => {
    const { body: listed } = await listModels(requestOf(), before, services());
    expect(listed).toHaveProperty(
      'data[0]',
      expect.objectContaining({
        id: leaving.id,
        available: true,
        unavailable_reason: null,
        sunset_at: '2027-06-01',
      }),
    );
  });

  it.each<[string, Partial<Caller>, string | null]>([
    ['the model that follows it', {}, 'sandbox-pro'],
    [
      'no model that is hidden from the account',
      { account: anAccount({ policy: { providers: 'all', hiddenModels: ['sandbox-pro'] } }) },
      null,
    ],
    ['no model that the key may not use', { apiKey: anApiKey({ models: [leaving.id] }) }, null],
  ])('The catalog names as successor %s', async (_what, change, successor) => {
    const { body: listed } = await listModels(requestOf(), { ...before, ...change }, services());
    expect(listed).toHaveProperty('data[0]', expect.objectContaining({ id: leaving.id, successor }));
  });

  it('A model that stays has no successor', async () => {
    const { body: listed } = await listModels(requestOf(), before, services());
    expect(listed).toHaveProperty('data[1]', expect.objectContaining({ id: 'sandbox-pro', successor: null }));
  });
});

describe('a model from its sunset on', () => {
  it('The model is listed as unavailable, with the reason', async () => {
    const { body: listed } = await listModels(requestOf(), after, services());
    expect(listed).toMatchObject({
      data: [
        {
          id: leaving.id,
          available: false,
          unavailable_reason: 'sunset',
          resolutions: [],
          max_image_urls: 0,
          pricing: [],
        },
        { id: 'sandbox-pro', available: true, unavailable_reason: null },
      ],
    });
  });

  it('A quote and a submission are answered 404 ERR_MODEL_NOT_FOUND with the deprecation headers', async () => {
    const problem = await problemOf(() => planCreation(body, after, { catalog }));
    expect([problem.status, problem.code]).toEqual([404, 'ERR_MODEL_NOT_FOUND']);
    expect(problem.headers).toMatchObject(announced);
  });

  it('An account from which the model is hidden gets the answer for an absent model', async () => {
    const hidden: Caller = {
      ...after,
      account: anAccount({ policy: { providers: 'all', hiddenModels: [leaving.id] } }),
    };
    expect((await problemOf(() => planCreation(body, hidden, { catalog }))).headers).toEqual({});
  });
});

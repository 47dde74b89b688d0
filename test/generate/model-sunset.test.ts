/** A model of the test's own catalog, from its deprecation to its sunset. */
import { describe, expect, it } from 'vitest';
import type { Caller } from '../../service/api/admit.ts';
import { getCreation } from '../../service/api/creations.ts';
import { listModels } from '../../service/api/list-models.ts';
import type { QuoteServices } from '../../service/api/open.ts';
import type { RequestStore } from '../../service/api/request-store.ts';
import type { ApiRequest } from '../../service/api/request.ts';
import type { Catalog, Model } from '../../service/catalog/catalog-schema.ts';
import type { CreationStore } from '../../service/creations/creation-store.ts';
import { narrowToSources, planCreation } from '../../service/generate/plan.ts';
import { quoteImage } from '../../service/generate/quote-image.ts';
import { findReplay } from '../../service/generate/earlier-request.ts';
import { Problem } from '../../service/values/problem.ts';
import { stub } from '../api/fakes.ts';
import { catalog as wholeCatalog } from '../catalog/sold-catalog-fixture.ts';
import { aCreation, anAccount, anApiKey, creationId, storedImage } from '../fixtures/records.ts';

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
    place: stub({}),
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
    resultsBaseUrl: 'https://results.test',
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

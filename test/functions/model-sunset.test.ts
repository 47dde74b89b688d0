/** A model that goes away, from its announcement to its end, over a catalog of the test's own. */
import { describe, expect, it } from 'vitest';
import models from '../../catalog/models.json' with { type: 'json' };
import type { Catalog, Model } from '../../core/catalog.ts';
import type { CreationStore } from '../../core/ports/creations.ts';
import type { RequestStore } from '../../core/ports/requests.ts';
import { Problem } from '../../core/problem.ts';
import type { Caller } from '../../functions/http/caller.ts';
import { getCreation } from '../../functions/operations/get-creation.ts';
import { listModels } from '../../functions/operations/list-models.ts';
import { narrowToSources, planCreation } from '../../functions/operations/generate/plan.ts';
import { quoteImage } from '../../functions/operations/quote-image.ts';
import { findReplay } from '../../functions/operations/generate/replay.ts';
import type { ApiRequest } from '../../functions/http/request.ts';
import type { QuoteServices } from '../../functions/services/api.ts';
import { aCreation, anAccount, anApiKey, creationId, storedImage } from '../fixtures/records.ts';
import { stub } from './fakes.ts';

const sunset = Date.UTC(2027, 5, 1);
const leaving: Model = {
  ...modelNamed('sandbox-standard'),
  deprecated_at: '2026-12-01',
  sunset_at: '2027-06-01',
};
const catalog: Catalog = { models: [leaving, modelNamed('sandbox-pro')] };
const announced = {
  deprecation: '@1796083200',
  sunset: 'Tue, 01 Jun 2027 00:00:00 GMT',
  link: '</api/public/v1/models>; rel="deprecation"',
};

function modelNamed(id: string): Model {
  const model = (models as Catalog).models.find((known) => known.id === id);
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

describe('before its sunset, a model that goes away is announced', () => {
  it('on a quote', async () => {
    expect((await quoteImage(requestOf(body), before, services())).headers).toMatchObject(announced);
  });

  it('on a replay', async () => {
    const record = { creationId, requestHash: 'same', expiresAt: sunset };
    expect(await findReplay(record, { hash: 'key', requestHash: 'same' }, services())).toMatchObject({
      kind: 'replayed',
      headers: { ...announced, 'idempotent-replayed': 'true' },
    });
  });

  it('on GET /creations/{id}, before and after the sunset', async () => {
    for (const nowMillis of [sunset - 1, sunset]) {
      const caller = callerAt(nowMillis, { creation: aCreation() });
      expect((await getCreation(requestOf(), caller, services())).headers).toMatchObject(announced);
    }
  });

  it('but not on a creation of another model', async () => {
    const caller = callerAt(sunset - 1, { creation: aCreation({ model: 'sandbox-pro' }) });
    expect((await getCreation(requestOf(), caller, services())).headers).not.toHaveProperty('deprecation');
  });

  it.each<[string, object, Caller, number, string]>([
    ['a field that the model cannot take', { prompt: 'x'.repeat(4_001) }, before, 400, 'prompt'],
    ['a shape that no provider renders', { resolution: '4K' }, before, 400, 'provider_policy_no_route'],
    ['no provider that is enabled', {}, callerAt(sunset - 1, {}, []), 503, 'no_provider_enabled'],
  ])('on the refusal of %s', async (_what, change, caller, status, says) => {
    const problem = await problemOf(() => planCreation({ ...body, ...change }, caller, { catalog }));
    expect([problem.status, JSON.stringify(problem.details)]).toEqual([
      status,
      expect.stringContaining(says),
    ]);
    expect(problem.headers).toMatchObject(announced);
  });

  it('on the refusal of a source image that no provider takes', async () => {
    const plan = planCreation(body, before, { catalog });
    const problem = await problemOf(() =>
      narrowToSources(plan, [{ ...storedImage, contentType: 'image/bmp' }]),
    );
    expect(problem.headers).toMatchObject(announced);
  });

  it('while it stays available', async () => {
    const { body: listed } = await listModels(requestOf(), before, services());
    expect((listed as { data: unknown[] }).data[0]).toMatchObject({
      id: leaving.id,
      available: true,
      unavailable_reason: null,
      sunset_at: '2027-06-01',
    });
  });
});

describe('from its sunset on, a model', () => {
  it('is listed as unavailable, with the reason', async () => {
    const { body: listed } = await listModels(requestOf(), after, services());
    expect((listed as { data: unknown[] }).data).toMatchObject([
      {
        id: leaving.id,
        available: false,
        unavailable_reason: 'sunset',
        resolutions: [],
        max_image_urls: 0,
        pricing: [],
      },
      { id: 'sandbox-pro', available: true, unavailable_reason: null },
    ]);
  });

  it('is 404 ERR_MODEL_NOT_FOUND on a quote and a submission, and says since when', async () => {
    const problem = await problemOf(() => planCreation(body, after, { catalog }));
    expect([problem.status, problem.code]).toEqual([404, 'ERR_MODEL_NOT_FOUND']);
    expect(problem.headers).toMatchObject(announced);
  });

  it('is told like an absent one to an account from which it is hidden', async () => {
    const hidden: Caller = {
      ...after,
      account: anAccount({ policy: { providers: 'all', hiddenModels: [leaving.id] } }),
    };
    expect((await problemOf(() => planCreation(body, hidden, { catalog }))).headers).toEqual({});
  });
});

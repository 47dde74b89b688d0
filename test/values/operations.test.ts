/** The complete answers of the operations that charge nothing. */
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { describe, expect, it } from 'vitest';
import { getBalance } from '../../service/api/get-balance.ts';
import { getCreation } from '../../service/api/creations.ts';
import { listModels } from '../../service/api/list-models.ts';
import { restRequestOf } from '../../service/api/request.ts';
import type { Handle } from '../../service/api/serve.ts';
import type { Model } from '../../service/catalog/catalog-schema.ts';
import type { CreationStore } from '../../service/creations/creation-store.ts';
import { stub } from '../api/fakes.ts';
import { accepting, bearer, post, type Sending, type StageServices } from '../api/serve-fixture.ts';
import { catalogOf, routeOf } from '../catalog/catalog-fixture.ts';
import { aCompletedCreation, aCreation, creationId, now } from '../fixtures/records.ts';

const get = (handle: Handle<StageServices>): Sending => ({ method: 'GET', handle });

const json = { ...bearer, 'content-type': 'application/json' };

describe('GET /balance', () => {
  // The limits of a key: test/whole/key-limits.test.ts and quote-and-balance.test.ts.
  it('A user that is not fit to be one is refused', async () => {
    const asked = { ...get(getBalance), path: '/api/public/v1/balance', query: { user: '' } };
    expect(await post(accepting({}), undefined, asked)).toMatchObject({
      status: 400,
      body: { error: { details: { errors: [{ field: 'user', code: 'invalid_value' }] } } },
    });
  });
});

describe('GET /models', () => {
  it('The list shows only resolutions that have a price, and only their prices', async () => {
    const pricing = [
      { resolution: '2K', usd: 0.08, usd_per_input_image: 0.005 },
      { resolution: '4K', usd: 0.16, usd_per_input_image: 0.005 },
    ] satisfies Model['pricing'];
    const stage = accepting({ services: catalogOf({ pricing }) });
    expect((await post(stage, undefined, get(listModels))).body).toMatchObject({
      data: [{ resolutions: ['2K'], pricing: [{ resolution: '2K' }] }],
    });
  });

  it.each([
    [4, [3], 3],
    [4, [5], 4],
    [4, [1, 2], 2],
    [4, [1], 1],
    [4, [0], 0],
    [0, [0], 0],
  ])(
    'A model of at most %i images, with routes of at most %j, is listed with %i',
    async (most, routes, shown) => {
      const change = {
        max_image_urls: most,
        routes: routes.flatMap((max_image_urls) => routeOf({ max_image_urls })),
      };
      const stage = accepting({ services: catalogOf(change) });
      expect((await post(stage, undefined, get(listModels))).body).toMatchObject({
        data: [{ max_image_urls: shown, supports_image_input: shown > 0 }],
      });
    },
  );
});

describe('GET /creations/{id}', () => {
  const polled = { ...get(getCreation), pathId: creationId };
  const requests = { stampPoll: async () => Promise.resolve(true) };

  it('The poll is stamped with the interval of one second', async () => {
    const stamps: unknown[] = [];
    const stampPoll = async (...given: unknown[]): Promise<boolean> =>
      Promise.resolve(Boolean(stamps.push(given)));
    const stage = accepting({ state: { creation: aCreation() }, requests: { stampPoll } });
    expect((await post(stage, undefined, polled)).body).toMatchObject({ id: creationId, status: 'queued' });
    expect(stamps).toEqual([[creationId, 1_000, now]]);
  });

  it.each([
    ['queued', '2'],
    ['processing', '2'],
    ['completed', undefined],
    ['failed', undefined],
  ] as const)('The answer for a creation that is %s has the Retry-After %j', async (status, retryAfter) => {
    const creation = aCreation({
      status,
      ...(retryAfter === undefined && { completedAt: new Date(now).toISOString() }),
      ...(status === 'failed' && { failure: 'GenerationFailed' as const }),
    });
    const answer = await post(accepting({ state: { creation }, requests }), undefined, polled);
    expect(answer.headers?.['retry-after']).toBe(retryAfter);
  });

  it('The Retry-After of a running creation follows from the usual time of its route, without a further read', async () => {
    const startedAt = new Date(now - 20_500).toISOString();
    const attempt = { provider: 'fal', providerModel: 'flux', startedAt, resultKey: 'results/a.png' };
    const attempts = [{ ...attempt, usualMillis: 36_000 }];
    const creation = aCreation({ status: 'processing', deadlineAt: now + 300_000, attempts });
    const stage = accepting({ state: { creation }, requests });
    expect((await post(stage, undefined, polled)).headers?.['retry-after']).toBe('7');
    expect(stage.questions).toHaveLength(1);
  });
});

describe('a replay with Prefer: wait', () => {
  it('The replay is counted in the rate before it waits, and its answer says which wait was applied', async () => {
    const record = { creationIds: [creationId] as const, requestHash: '', expiresAt: now };
    const read = async (): Promise<ReturnType<typeof aCreation>> => Promise.resolve(aCompletedCreation());
    const stage = accepting({});
    const body = { model: 'sandbox-standard', prompt: 'a pier' };
    const headers = { ...json, 'idempotency-key': 'k' };
    await post(stage, body, { headers });
    const requestHash = stage.orders[0]?.idempotency?.requestHash ?? '';
    const again = accepting({
      state: { idempotency: { ...record, requestHash } },
      services: { creations: stub<CreationStore>({ read }) },
    });
    const answer = await post(again, body, { headers: { ...headers, prefer: 'wait=7' } });
    expect(answer).toMatchObject({
      status: 200,
      headers: { 'preference-applied': 'wait=7', 'idempotent-replayed': 'true' },
      body: { id: creationId, status: 'completed' },
    });
    expect([again.counted, again.orders]).toEqual([1, []]);
  });
});

function eventWith(headers: Readonly<Record<string, string>> | null): APIGatewayProxyEvent {
  const requestContext = { path: '/mcp', requestId: 'request-1', identity: { sourceIp: '203.0.113.9' } };
  return { httpMethod: 'POST', headers, requestContext } as unknown as APIGatewayProxyEvent;
}

/** The request that the operations see, from the event of a REST API. */
it('Names of headers are in lower case, however the client sent them', () => {
  expect(restRequestOf(eventWith({ Authorization: 'Bearer x' })).headers).toEqual({
    authorization: 'Bearer x',
  });
});

it('A request without headers, a query and a body is read', () => {
  const request = restRequestOf(eventWith(null));
  expect(request).toMatchObject({ headers: {}, query: {}, pathId: '' });
  expect(request.body.byteLength).toBe(0);
});

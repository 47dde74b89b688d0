/** The complete answers of the operations that charge nothing. */
import { describe, expect, it } from 'vitest';
import type { Model } from '../../core/catalog.ts';
import type { AccountId } from '../../core/ids.ts';
import { userHash } from '../../core/user.ts';
import { asMicros } from '../../core/money.ts';
import type { CreationStore } from '../../core/ports/creations.ts';
import { getBalance } from '../../functions/operations/get-balance.ts';
import { getCreation } from '../../functions/operations/get-creation.ts';
import { listModels } from '../../functions/operations/list-models.ts';
import { quoteImage } from '../../functions/operations/generate/quote-image.ts';
import { unknownRoute } from '../../functions/operations/unknown-route.ts';
import type { StageServices } from './serve-fixture.ts';
import type { Handle } from '../../functions/http/serve.ts';
import { aCompletedCreation, aCreation, creationId, now } from '../fixtures/records.ts';
import { catalogOf, routeOf } from './catalog-fixture.ts';
import { stub } from './fakes.ts';
import { accepting, bearer, post, type Sending } from './serve-fixture.ts';

const get = (handle: Handle<StageServices>): Sending => ({ method: 'GET', handle });
const quote: Sending = { handle: quoteImage };
const json = { ...bearer, 'content-type': 'application/json' };

describe('GET /balance', () => {
  it('The answer has the balance, the credit line, the open creations and the budget of the key', async () => {
    const stage = accepting({
      account: {
        availableMicros: asMicros(7_000_001),
        creditLineMicros: asMicros(2_000_000),
        inFlight: 3,
        limits: {
          postRate: 60,
          getRate: 600,
          maxConcurrent: 21,
          deadlineSeconds: 300,
          maxUnusedUploads: 100,
        },
      },
      apiKey: {
        monthlyCapMicros: asMicros(500_000),
        spent: { '2026_10': asMicros(1), '2026_11': asMicros(120_000) },
      },
    });
    const answer = await post(stage, undefined, get(getBalance));
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      available: 7.000001,
      balance: 5.000001,
      credit_line: 2,
      currency: 'USD',
      in_flight: 3,
      max_concurrent: 21,
      key: {
        monthly_cap: 0.5,
        spent: 0.12,
        resets_at: '2026-12-01T00:00:00.000Z',
        daily_cap: null,
        spent_today: 0,
        day_resets_at: '2026-11-22T00:00:00.000Z',
        total_cap: null,
        spent_total: 0.120001,
        per_user_monthly_cap: null,
        models: null,
        expires_at: null,
        user: null,
      },
    });
    expect(stage.questions[0]).not.toHaveProperty('userHash');
  });

  it('The answer shows every limit of the key, and what is spent of each and for the user that is asked for', async () => {
    const stage = accepting({
      apiKey: {
        dailyCapMicros: asMicros(100_000),
        totalCapMicros: asMicros(900_000),
        perUserMonthlyCapMicros: asMicros(50_000),
        models: ['sandbox-pro'],
        expiresAt: '2027-01-01T00:00:00.000Z',
        spent: { '2026_10': asMicros(1), '2026_11': asMicros(120_000) },
        spentByDay: { '2026_11_20': asMicros(90_000), '2026_11_21': asMicros(30_000) },
      },
      state: { userSpentMicros: asMicros(20_000) },
    });
    const path = '/api/public/v1/balance';
    const asked = get(getBalance);
    const answer = await post(stage, undefined, { ...asked, path, query: { user: 'customer 7' } });
    expect(answer.body).toMatchObject({
      key: {
        monthly_cap: null,
        spent: 0.12,
        daily_cap: 0.1,
        spent_today: 0.03,
        total_cap: 0.9,
        spent_total: 0.120001,
        per_user_monthly_cap: 0.05,
        models: ['sandbox-pro'],
        expires_at: '2027-01-01T00:00:00.000Z',
        user: { id: 'customer 7', spent: 0.02, resets_at: '2026-12-01T00:00:00.000Z' },
      },
    });
    expect(stage.questions[0]?.userHash).toBe(userHash('customer 7'));
    const wrong = await post(stage, undefined, { ...asked, path, query: { user: '' } });
    expect(wrong).toMatchObject({
      status: 400,
      body: { error: { details: { errors: [{ field: 'user', code: 'invalid_value' }] } } },
    });
  });

  it('The answer for a key without a cap that has spent nothing says so', async () => {
    expect((await post(accepting({}), undefined, get(getBalance))).body).toMatchObject({
      key: { monthly_cap: null, spent: 0 },
    });
  });
});

describe('POST /images/quote', () => {
  it('The quote has the cost, the shape and whether the balance covers the cost', async () => {
    const stage = accepting({ account: { availableMicros: asMicros(90_000) } });
    const body = {
      model: 'sandbox-standard',
      prompt: 'a pier',
      resolution: '2K',
      aspect_ratio: '3:2',
      output_format: 'jpeg',
      image_urls: ['https://images.test/1.png', 'https://images.test/2.png'],
    };
    const answer = await post(stage, body, quote);
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      cost: 0.09,
      currency: 'USD',
      model: 'sandbox-standard',
      resolution: '2K',
      aspect_ratio: '3:2',
      output_format: 'jpeg',
      input_images: 2,
      available: 0.09,
      sufficient: true,
    });
    const short = accepting({ account: { availableMicros: asMicros(89_999) } });
    expect((await post(short, body, quote)).body).toMatchObject({ available: 0.089999, sufficient: false });
  });
});

describe('GET /models', () => {
  it('The list shows every field of a model', async () => {
    const stage = accepting({ services: catalogOf({}) });
    const answer = await post(stage, undefined, get(listModels));
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      data: [
        {
          id: 'sandbox-standard',
          name: 'Sandbox Standard',
          description: '1K and 2K pictures from text and up to four source images.',
          available: true,
          unavailable_reason: null,
          supports_image_input: true,
          max_image_urls: 4,
          max_prompt_length: 4_000,
          resolutions: ['1K', '2K'],
          aspect_ratios: ['1:1', '3:2', '2:3', '4:3', '3:4', '5:4', '4:5', '16:9', '9:16'],
          output_formats: ['png', 'jpeg'],
          default_resolution: '1K',
          default_aspect_ratio: '1:1',
          default_output_format: 'png',
          pricing: [
            { resolution: '1K', usd: 0.04, usd_per_input_image: 0.005 },
            { resolution: '2K', usd: 0.08, usd_per_input_image: 0.005 },
          ],
          deprecated_at: null,
          sunset_at: null,
          successor: null,
        },
      ],
    });
  });

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

  it('A model without an enabled provider is listed as unavailable, with the reason', async () => {
    const account = { policy: { providers: [], hiddenModels: ['hidden'] } };
    const stage = accepting({ account, services: catalogOf({}, { id: 'hidden' }) });
    expect((await post(stage, undefined, get(listModels))).body).toMatchObject({
      data: [
        {
          id: 'sandbox-standard',
          available: false,
          unavailable_reason: 'no_provider_enabled',
          supports_image_input: false,
          max_image_urls: 0,
          resolutions: [],
          pricing: [],
        },
      ],
    });
  });
});

describe('GET /creations/{id}', () => {
  const polled = { ...get(getCreation), pathId: creationId };

  it('The poll is stamped with the interval of one second', async () => {
    const stamps: unknown[] = [];
    const stampPoll = async (...given: unknown[]): Promise<boolean> =>
      Promise.resolve(Boolean(stamps.push(given)));
    const stage = accepting({ state: { creation: aCreation() }, requests: { stampPoll } });
    expect((await post(stage, undefined, polled)).body).toMatchObject({ id: creationId, status: 'queued' });
    expect(stamps).toEqual([[creationId, 1_000, now]]);
  });

  it('A second poll within a second is refused', async () => {
    const requests = { stampPoll: async () => Promise.resolve(false) };
    const stage = accepting({ state: { creation: aCreation() }, requests });
    const answer = await post(stage, undefined, polled);
    expect([answer.status, answer.headers?.['retry-after'], answer.body]).toEqual([
      429,
      '1',
      {
        error: {
          code: 'ERR_RATE_LIMIT',
          message: 'A creation may be polled once a second.',
          details: { reason: 'poll_interval', interval_seconds: 1 },
        },
      },
    ]);
  });

  it.each([[undefined], [aCreation({ accountId: 'Another001' as AccountId })]])(
    'An absent or foreign creation is answered 404 with the same text',
    async (creation) => {
      const stage = accepting({ state: creation ? { creation } : {} });
      const answer = await post(stage, undefined, polled);
      expect([answer.status, answer.body]).toEqual([
        404,
        {
          error: { code: 'ERR_NOT_FOUND', message: 'There is no creation with this id.', details: {} },
        },
      ]);
    },
  );
});

describe('an unknown query parameter', () => {
  it.each<[string, Handle<StageServices>]>([
    ['GET /balance', getBalance],
    ['GET /creations/{id}', getCreation],
    ['GET /models', listModels],
  ])('The parameter is refused by %s', async (_operation, handle) => {
    const stage = accepting({ state: { creation: aCreation() } });
    const answer = await post(stage, undefined, { ...get(handle), query: { x: '1' } });
    expect(answer).toMatchObject({ status: 400, body: { error: { details: { errors: [{ field: 'x' }] } } } });
  });
});

describe('a path without an operation', () => {
  it.each([
    ['/api/public/v1/models', 'POST', 'GET', '/api/public/v1/models does not take POST.'],
    [
      '/api/public/v1/nothing',
      'GET',
      undefined,
      "There is nothing at /api/public/v1/nothing. The API's root is /api/public/v1.",
    ],
  ] as const)('The path %s with %s is answered 404 with Allow: %s', async (path, method, allow, message) => {
    const answer = await post(accepting({}), undefined, { method, path, handle: unknownRoute });
    expect([answer.status, answer.headers?.['allow'], answer.body]).toEqual([
      404,
      allow,
      { error: { code: 'ERR_NOT_FOUND', message, details: {} } },
    ]);
  });
});

describe('a replay with Prefer: wait', () => {
  it('The replay takes its place in the rate before it waits, and its answer says which wait was applied', async () => {
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

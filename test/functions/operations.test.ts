/** The whole answers of the operations that charge nothing. */
import { describe, expect, it } from 'vitest';
import models from '../../catalog/models.json' with { type: 'json' };
import type { Catalog, Model } from '../../core/catalog.ts';
import type { AccountId } from '../../core/ids.ts';
import { asMicros } from '../../core/money.ts';
import type { CreationStore } from '../../core/ports/creations.ts';
import { getBalance } from '../../functions/operations/get-balance.ts';
import { getCreation } from '../../functions/operations/get-creation.ts';
import { listModels } from '../../functions/operations/list-models.ts';
import { quoteImage } from '../../functions/operations/quote-image.ts';
import { unknownRoute } from '../../functions/operations/unknown-route.ts';
import type { SubmitServices } from '../../functions/services.ts';
import type { Handle } from '../../functions/http/serve.ts';
import { aCompletedCreation, aCreation, creationId, now } from '../fixtures/records.ts';
import { stub } from './fakes.ts';
import { accepting, bearer, post, type Sending } from './serve-fixture.ts';

const get = (handle: Handle<SubmitServices>): Sending => ({ method: 'GET', handle });
const quote: Sending = { handle: quoteImage };
const json = { ...bearer, 'content-type': 'application/json' };

function catalogOf(...changes: Partial<Model>[]): Partial<SubmitServices> {
  const model = (models as Catalog).models.find(({ id }) => id === 'sandbox-standard');
  if (!model) throw new Error('the catalog has no sandbox-standard');
  return { catalog: { models: changes.map((change) => ({ ...model, ...change })) } };
}

function routeOf(change: Partial<Model['routes'][number]>): Model['routes'] {
  const [route] = catalogOf({}).catalog?.models[0]?.routes ?? [];
  if (!route) throw new Error('sandbox-standard has no route');
  return [{ ...route, ...change }];
}

describe('GET /balance', () => {
  it('tells the balance, the credit line, what is open and what the key may spend', async () => {
    const stage = accepting({
      account: {
        availableMicros: asMicros(7_000_001),
        creditLineMicros: asMicros(2_000_000),
        inFlight: 3,
        limits: { postRate: 60, getRate: 600, maxConcurrent: 21, deadlineSeconds: 300 },
      },
      apiKey: {
        monthlyCapMicros: asMicros(500_000),
        spent: { '2026_10': asMicros(1), '2026_11': asMicros(120_000) },
      },
    });
    expect((await post(stage, undefined, get(getBalance))).body).toEqual({
      available: 7.000001,
      balance: 5.000001,
      credit_line: 2,
      currency: 'USD',
      in_flight: 3,
      max_concurrent: 21,
      key: { monthly_cap: 0.5, spent: 0.12, resets_at: '2026-12-01T00:00:00.000Z' },
    });
  });

  it('tells of a key without a cap that has spent nothing', async () => {
    expect((await post(accepting({}), undefined, get(getBalance))).body).toMatchObject({
      key: { monthly_cap: null, spent: 0 },
    });
  });
});

describe('POST /images/quote', () => {
  it('tells the cost, the shape and whether the balance covers the cost', async () => {
    const stage = accepting({ account: { availableMicros: asMicros(90_000) } });
    const body = {
      model: 'sandbox-standard',
      prompt: 'a pier',
      resolution: '2K',
      aspect_ratio: '3:2',
      output_format: 'jpeg',
      image_urls: ['https://images.test/1.png', 'https://images.test/2.png'],
    };
    expect((await post(stage, body, quote)).body).toEqual({
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
  it('shows everything of a model', async () => {
    const stage = accepting({ services: catalogOf({}) });
    expect((await post(stage, undefined, get(listModels))).body).toEqual({
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
        },
      ],
    });
  });

  it('shows only the resolutions that have a price, and only the prices of these', async () => {
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
    [4, [0], 0],
    [0, [0], 0],
  ])('of at most %i images, with routes of at most %j, shows %i', async (most, routes, shown) => {
    const change = {
      max_image_urls: most,
      routes: routes.flatMap((max_image_urls) => routeOf({ max_image_urls })),
    };
    const stage = accepting({ services: catalogOf(change) });
    expect((await post(stage, undefined, get(listModels))).body).toMatchObject({
      data: [{ max_image_urls: shown, supports_image_input: shown > 0 }],
    });
  });

  it('says of a model without an enabled provider why it is unavailable', async () => {
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

describe('a model that cannot be rendered as asked', () => {
  const standard = { model: 'sandbox-standard', prompt: 'a pier' };
  const toldOf = async (body: object, setting: Parameters<typeof accepting>[0] = {}): Promise<unknown> => {
    const { status, headers, body: told } = await post(accepting(setting), body, quote);
    return [status, headers?.['retry-after'], (told as { error?: unknown }).error];
  };

  it('because it does not exist', async () => {
    expect(await toldOf({ ...standard, model: 'no"ne' })).toEqual([
      404,
      undefined,
      {
        code: 'ERR_MODEL_NOT_FOUND',
        message: 'The model "no\\"ne" is not available to this account.',
        details: {},
      },
    ]);
  });

  it('because no provider is enabled', async () => {
    expect(await toldOf(standard, { account: { policy: { providers: [], hiddenModels: [] } } })).toEqual([
      503,
      '60',
      {
        code: 'ERR_PROVIDER_UNAVAILABLE',
        message: 'No provider of sandbox-standard is enabled for this account. Nothing was charged.',
        details: { reason: 'no_provider_enabled' },
      },
    ]);
  });

  it.each<[string, object, Parameters<typeof accepting>[0], string]>([
    ['no route has the resolution', { resolution: '4K' }, {}, '4K, 1:1, png'],
    [
      'no route takes as many source images',
      { image_urls: ['https://images.test/1', 'https://images.test/2'] },
      { services: catalogOf({ routes: routeOf({ max_image_urls: 1 }) }) },
      '1K, 1:1, png, 2 source images',
    ],
    [
      'no route takes as long a prompt',
      {},
      { services: catalogOf({ routes: routeOf({ max_prompt_length: 5 }) }) },
      '1K, 1:1, png',
    ],
    ['it has no price', { resolution: '2K' }, { services: catalogOf({ pricing: [] }) }, '2K, 1:1, png'],
  ])('because %s', async (_why, change, setting, asked) => {
    expect(await toldOf({ ...standard, ...change }, setting)).toEqual([
      400,
      undefined,
      {
        code: 'ERR_INVALID_REQUEST',
        message: `No provider enabled for this account renders sandbox-standard at ${asked}. GET /models lists what is possible.`,
        details: { reason: 'provider_policy_no_route', errors: [] },
      },
    ]);
  });

  it('though a prompt is as long as a route takes', async () => {
    const services = catalogOf({ routes: routeOf({ max_prompt_length: 6 }) });
    expect((await post(accepting({ services }), standard, quote)).status).toBe(200);
  });

  it('because no route takes the source image as it is', async () => {
    const limits = { content_types: ['image/png'], max_bytes: 1, min_side: 64, max_side: 64, max_pixels: 9 };
    const routes = routeOf({ source_limits: limits } as Partial<Model['routes'][number]>);
    const bytes = Buffer.concat([pngWithSides(64, 128), Buffer.alloc(1_250_000)]);
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

function pngWithSides(width: number, height: number): Buffer {
  const bytes = Buffer.from('89504e470d0a1a0a0000000d49484452000000000000000008020000000102ffff', 'hex');
  bytes.writeUInt32BE(width, 16);
  bytes.writeUInt32BE(height, 20);
  return bytes;
}

describe('GET /creations/{id}', () => {
  const polled = { ...get(getCreation), pathId: creationId };

  it('stamps the poll with the interval of one second', async () => {
    const stamps: unknown[] = [];
    const stampPoll = async (...given: unknown[]): Promise<boolean> =>
      Promise.resolve(Boolean(stamps.push(given)));
    const stage = accepting({ state: { creation: aCreation() }, requests: { stampPoll } });
    expect((await post(stage, undefined, polled)).body).toMatchObject({ id: creationId, status: 'queued' });
    expect(stamps).toEqual([[creationId, 1_000, now]]);
  });

  it('within the second after another poll is refused', async () => {
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
    'of an absent or foreign creation says only that there is none',
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

describe('a query parameter', () => {
  it.each<[string, Handle<SubmitServices>]>([
    ['GET /balance', getBalance],
    ['GET /creations/{id}', getCreation],
    ['GET /models', listModels],
  ])('is refused by %s', async (_operation, handle) => {
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
  ] as const)('%s with %s is 404 with Allow: %s', async (path, method, allow, message) => {
    const answer = await post(accepting({}), undefined, { method, path, handle: unknownRoute });
    expect([answer.status, answer.headers?.['allow'], answer.body]).toEqual([
      404,
      allow,
      { error: { code: 'ERR_NOT_FOUND', message, details: {} } },
    ]);
  });
});

describe('a replay that is held', () => {
  it('takes its place in the rate before it is held, and tells what was applied', async () => {
    const record = { creationId, requestHash: '', expiresAt: now };
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

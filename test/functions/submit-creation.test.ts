/** The charge of POST /images/generate: what is recorded and asked of the table, and what each outcome means. */
import { describe, expect, it } from 'vitest';
import { asMicros } from '../../core/money.ts';
import type { ChargeOutcome, ChargeStore, Refund } from '../../core/ports/charges.ts';
import type { CreationStore } from '../../core/ports/creations.ts';
import type { Executions, StartOutcome } from '../../core/ports/executions.ts';
import { accountId, aCreation, anApiKey, creationId, keyId, now } from '../fixtures/records.ts';
import { pngBytes, stub } from './fakes.ts';
import { accepting, bearer, post, type Stage } from './serve-fixture.ts';

const body = { model: 'sandbox-standard', prompt: 'a pier' };
const everything = {
  model: 'sandbox-pro',
  prompt: 'a pier',
  resolution: '2K',
  aspect_ratio: '16:9',
  output_format: 'png',
  image_urls: ['https://images.test/1.png'],
  webhook_url: 'https://hooks.test/a',
  seed: 42,
  metadata: { order: '7' },
};
const withKey = { headers: { ...bearer, 'content-type': 'application/json', 'idempotency-key': 'k' } };
/** SHA-256 of "k". */
const keyHash = '8254c329a92850f6d539dd376f4816ee2764517da5e0235514af433164480d7a';
/** The id of a creation that is made at the fixture's time with the fixture's random bytes. */
const id = '01a1fdfa-bb30-7607-8809-0a0b0c0d0e0f';

describe('the order of a charge', () => {
  it('holds the whole record of a request that leaves everything open', async () => {
    const stage = accepting({});
    await post(stage, body);
    expect(stage.orders).toStrictEqual([
      {
        nowMillis: now,
        postRate: 60,
        creation: {
          id,
          accountId,
          keyId,
          requestId: 'request-1',
          status: 'queued',
          model: 'sandbox-standard',
          prompt: 'a pier',
          resolution: '1K',
          aspectRatio: '1:1',
          outputFormat: 'png',
          seed: null,
          sources: [],
          metadata: {},
          costMicros: 40_000,
          refundedMicros: 0,
          chargedMonth: '2026_11',
          createdAt: '2026-11-21T12:00:30.000Z',
          deadlineAt: now + 300_000,
          results: [],
          routes: [{ provider: 'sandbox', providerModel: 'standard' }],
          attempts: [],
          executions: 1,
          recoveries: 0,
          dueAt: now + 60_000,
        },
      },
    ]);
  });

  it('holds everything that a request may say, the cap of the key and the Idempotency-Key', async () => {
    const stage = accepting({
      account: { limits: { postRate: 61, getRate: 600, maxConcurrent: 20, deadlineSeconds: 301 } },
      apiKey: { monthlyCapMicros: asMicros(2_000_000) },
      check: async () => Promise.resolve({ kind: 'allowed' }),
      fetchSource: async () => Promise.resolve({ kind: 'fetched', bytes: pngBytes }),
    });
    await post(stage, everything, withKey);
    expect(stage.orders).toMatchObject([
      {
        monthlyCapMicros: 2_000_000,
        idempotency: { hash: keyHash, requestHash: expect.stringMatching(/^[0-9a-f]{64}$/) as string },
        creation: {
          resolution: '2K',
          aspectRatio: '16:9',
          outputFormat: 'png',
          seed: 42,
          sources: [{ width: 64 }],
          metadata: { order: '7' },
          costMicros: 130_000,
          deadlineAt: now + 301_000,
          webhook: { url: 'https://hooks.test/a', status: 'pending', attempts: 0, nextAt: now },
          routes: [
            { provider: 'sandbox', providerModel: 'pro' },
            { provider: 'sandbox-large', providerModel: 'pro' },
          ],
        },
      },
    ]);
    expect(stage.orders[0]).not.toHaveProperty('postRate');
    expect(stage.orders[0]?.idempotency).not.toHaveProperty('replaces');
  });

  it('names the quality of a route that has one', async () => {
    const stage = accepting({ state: { enabledProviders: ['openai'] } });
    const catalog = stage.open().catalog;
    const model = catalog.models.find(({ routes }) => routes.some(({ quality }) => quality !== null));
    await post(stage, { model: model?.id, prompt: 'a pier' });
    const named = stage.orders[0]?.creation.routes.map(({ quality }) => quality);
    expect(named).toContain(model?.routes.find(({ quality }) => quality !== null)?.quality);
  });
});

describe('an accepted creation', () => {
  it('is started once, logged with its ids, and answered with its place and a pace to poll', async () => {
    const stage = accepting({});
    const answer = await post(stage, body);
    expect(stage.started).toEqual([id]);
    expect(stage.log.entries).toEqual([
      [
        'info creation_accepted',
        {
          requestId: 'request-1',
          accountId,
          creationId: id,
          executionId: id,
          model: 'sandbox-standard',
          costMicros: 40_000,
          started: 'started',
        },
      ],
    ]);
    expect(answer).toMatchObject({
      status: 202,
      headers: { location: `/api/public/v1/creations/${id}`, 'retry-after': '2' },
    });
    expect(answer.headers).not.toHaveProperty('preference-applied');
  });

  it('is held for Prefer: wait, with its place in the rate, and told what was applied', async () => {
    const stage = accepting({
      services: { creations: stub<CreationStore>({ read: async () => Promise.resolve(undefined) }) },
    });
    const answer = await post(stage, body, { headers: { ...withKey.headers, prefer: 'wait=0' } });
    expect(answer).toMatchObject({ status: 202, headers: { 'preference-applied': 'wait=0' } });
    expect(stage.counted).toBe(0);
  });
});

describe('a charge that is refused', () => {
  const limits = { postRate: 60, getRate: 600, maxConcurrent: 20, deadlineSeconds: 300 };
  const busy = {
    code: 'ERR_PROVIDER_UNAVAILABLE',
    message: 'The service is busy. Nothing was charged: send the request again.',
    details: { reason: 'overloaded' },
  };

  it.each<[string, ChargeOutcome, number, object, string | undefined]>([
    [
      'the account is suspended',
      { kind: 'account_not_active', condition: 'suspended' },
      403,
      {
        code: 'ERR_API_SUSPENDED',
        message: 'API access of this account is paused by its account manager. The portal still works.',
        details: { reason: 'api_suspended' },
      },
      undefined,
    ],
    [
      'the account is disabled',
      { kind: 'account_not_active', condition: 'disabled' },
      403,
      {
        code: 'ERR_ACCOUNT_DISABLED',
        message: 'This account is disabled.',
        details: { reason: 'account_disabled' },
      },
      undefined,
    ],
    [
      'the account is gone',
      { kind: 'account_not_active', condition: 'gone' },
      403,
      {
        code: 'ERR_ACCOUNT_DISABLED',
        message: 'This account is disabled.',
        details: { reason: 'account_disabled' },
      },
      undefined,
    ],
    [
      'the key is revoked',
      { kind: 'key_revoked' },
      401,
      {
        code: 'ERR_API_KEY_INVALID',
        message: 'The API key is not recognised.',
        details: { reason: 'api_key_invalid' },
      },
      undefined,
    ],
    [
      'the rate is used up',
      { kind: 'rate_used_up' },
      429,
      {
        code: 'ERR_RATE_LIMIT',
        message: 'This account may send 60 POST requests a minute.',
        details: { reason: 'account_rate', limit: 60, window_seconds: 60 },
      },
      '30',
    ],
    [
      'the budget is used up',
      { kind: 'over_budget', spentMicros: asMicros(1_990_000) },
      402,
      {
        code: 'ERR_INSUFFICIENT_BALANCE',
        message: 'The monthly budget of this key, 2.00 USD, does not cover the request.',
        details: {
          reason: 'monthly_budget_exceeded',
          cap: 2,
          spent: 1.99,
          resets_at: '2026-12-01T00:00:00.000Z',
        },
      },
      undefined,
    ],
    [
      'the balance does not cover the cost',
      { kind: 'over_balance', availableMicros: asMicros(30_001) },
      402,
      {
        code: 'ERR_INSUFFICIENT_BALANCE',
        message: 'The request costs 0.04 USD, of which 0.030001 USD are available.',
        details: {
          required: 0.04,
          available: 0.030001,
          currency: 'USD',
          top_up_url: 'https://portal.test/wallet',
        },
      },
      undefined,
    ],
    [
      'too many creations are open',
      { kind: 'too_many_open', limit: 7, current: 9 },
      429,
      {
        code: 'ERR_QUOTA_EXCEEDED',
        message: 'This account may have 7 creations open at once.',
        details: { scope: 'account', reason: 'concurrent_creations', limit: 7, current: 9 },
      },
      '5',
    ],
    ['the table is busy', { kind: 'overloaded' }, 503, busy, '2'],
    [
      'a key is taken though none was sent',
      { kind: 'idempotency_taken', record: { creationId, requestHash: 'x', expiresAt: 0 } },
      503,
      busy,
      '2',
    ],
  ])('because %s says so', async (_why, outcome, status, error, retryAfter) => {
    const stage = accepting({
      outcome,
      account: { limits },
      apiKey: { monthlyCapMicros: asMicros(2_000_000) },
    });
    const answer = await post(stage, body);
    expect([answer.status, answer.body]).toEqual([status, { error }]);
    expect(answer.headers?.['retry-after']).toBe(retryAfter);
    expect(stage.started).toEqual([]);
  });

  it('names the portal of the deployment where no other place is set', async () => {
    const stage = accepting({ account: { availableMicros: asMicros(0) }, services: { topUpUrl: '' } });
    expect((await post(stage, body)).body).toHaveProperty(
      'error.details.top_up_url',
      'https://api.test/portal/wallet',
    );
  });
});

describe('the first look at the means', () => {
  const limits = { postRate: 60, getRate: 600, maxConcurrent: 7, deadlineSeconds: 300 };

  it.each<[string, Parameters<typeof accepting>[0], number, object, string | undefined]>([
    [
      'over the budget',
      {
        apiKey: {
          monthlyCapMicros: asMicros(2_000_000),
          spent: { '2026_11': asMicros(1_990_000), '2026_10': asMicros(5) },
        },
      },
      402,
      {
        code: 'ERR_INSUFFICIENT_BALANCE',
        message: 'The monthly budget of this key, 2.00 USD, does not cover the request.',
        details: {
          reason: 'monthly_budget_exceeded',
          cap: 2,
          spent: 1.99,
          resets_at: '2026-12-01T00:00:00.000Z',
        },
      },
      undefined,
    ],
    [
      'over the balance',
      { account: { availableMicros: asMicros(30_001) } },
      402,
      {
        code: 'ERR_INSUFFICIENT_BALANCE',
        message: 'The request costs 0.04 USD, of which 0.030001 USD are available.',
        details: {
          required: 0.04,
          available: 0.030001,
          currency: 'USD',
          top_up_url: 'https://portal.test/wallet',
        },
      },
      undefined,
    ],
    [
      'over the open creations',
      { account: { limits, inFlight: 9 } },
      429,
      {
        code: 'ERR_QUOTA_EXCEEDED',
        message: 'This account may have 7 creations open at once.',
        details: { scope: 'account', reason: 'concurrent_creations', limit: 7, current: 9 },
      },
      '5',
    ],
    [
      'over the capacity of the service',
      { state: { openCreations: 2_001 } },
      429,
      {
        code: 'ERR_QUOTA_EXCEEDED',
        message: 'The service has no room for another creation.',
        details: { scope: 'service', reason: 'capacity', limit: 2_000, current: 2_001 },
      },
      '5',
    ],
  ])('refuses a request %s with every number in its place', async (_what, setting, status, error, later) => {
    const stage = accepting(setting);
    const answer = await post(stage, body);
    expect([answer.status, answer.headers?.['retry-after'], answer.body]).toEqual([status, later, { error }]);
    expect([stage.orders, stage.counted]).toEqual([[], 1]);
  });

  it.each<[string, Parameters<typeof accepting>[0]]>([
    ['the balance is the cost', { account: { availableMicros: asMicros(40_000) } }],
    [
      'the budget is the cost',
      { apiKey: { monthlyCapMicros: asMicros(50_000), spent: { '2026_11': asMicros(10_000) } } },
    ],
    ['one more creation may be open', { account: { limits, inFlight: 6 } }],
    ['the service has room for one more', { state: { openCreations: 1_999 } }],
  ])('lets a request through when %s', async (_what, setting) => {
    expect((await post(accepting(setting), body)).status).toBe(202);
  });
});

describe('a charge that is built anew', () => {
  const changedTo = (cap: number): ChargeOutcome => ({
    kind: 'key_changed',
    apiKey: anApiKey({ monthlyCapMicros: asMicros(cap) }),
  });

  it('takes the cap of the key as it is now', async () => {
    const stage = accepting({ outcome: [changedTo(2_000_000), changedTo(3_000_000), { kind: 'charged' }] });
    expect((await post(stage, body)).status).toBe(202);
    expect(stage.orders.map(({ monthlyCapMicros: cap }) => cap)).toEqual([undefined, 2_000_000, 3_000_000]);
  });

  it('is given up after three charges', async () => {
    const stage = accepting({ outcome: changedTo(2_000_000) });
    expect((await post(stage, body)).status).toBe(503);
    expect(stage.orders).toHaveLength(3);
  });

  it('is refused when the cap as it is now does not cover the cost', async () => {
    const stage = accepting({ outcome: changedTo(39_999) });
    expect((await post(stage, body)).body).toMatchObject({
      error: { details: { reason: 'monthly_budget_exceeded', cap: 0.039999, spent: 0 } },
    });
    expect(stage.orders).toHaveLength(1);
  });

  const record = { creationId, requestHash: 'other', expiresAt: now };
  const failed = aCreation({ status: 'failed', failure: 'GenerationFailed' });
  const holding = (...read: ReturnType<typeof aCreation>[]): CreationStore =>
    stub<CreationStore>({ read: async () => Promise.resolve(read[0]) });

  it('replaces the failed creation that took the key meanwhile', async () => {
    const stage = accepting({
      outcome: [{ kind: 'idempotency_taken', record }, { kind: 'charged' }],
      services: { creations: holding(failed) },
    });
    expect((await post(stage, body, withKey)).status).toBe(202);
    expect(stage.orders.map(({ idempotency }) => idempotency?.replaces)).toEqual([undefined, creationId]);
    expect(stage.orders[1]?.idempotency).toMatchObject({ hash: keyHash });
  });

  it('replaces the failed creation that had the key before', async () => {
    const stage = accepting({ state: { idempotency: record }, services: { creations: holding(failed) } });
    expect((await post(stage, body, withKey)).status).toBe(202);
    expect(stage.orders.map(({ idempotency }) => idempotency?.replaces)).toEqual([creationId]);
  });

  it.each([[holding()], [holding(failed)]])(
    'is given up after three charges that each met a failed creation',
    async (creations) => {
      const stage = accepting({
        outcome: { kind: 'idempotency_taken', record },
        services: { creations },
      });
      expect((await post(stage, body, withKey)).status).toBe(503);
      expect(stage.orders).toHaveLength(3);
    },
  );

  it('is refused when the key was taken by another request', async () => {
    const stage = accepting({
      outcome: { kind: 'idempotency_taken', record },
      services: { creations: holding(aCreation()) },
    });
    const answer = await post(stage, body, withKey);
    expect([answer.status, answer.body]).toEqual([
      400,
      {
        error: {
          code: 'ERR_INVALID_REQUEST',
          message:
            'This Idempotency-Key was used for another request. Use a new key, or send the same request again.',
          details: {
            reason: 'idempotency_key_mismatch',
            errors: [{ field: 'Idempotency-Key', code: 'mismatch', message: 'was used for another request' }],
          },
        },
      },
    ]);
  });
});

describe('an execution that cannot be started', () => {
  interface Refused extends Stage {
    readonly refunds: readonly Refund[];
  }

  /** A start that ends so, and a refund that ends so or breaks. */
  function refusing(
    start: StartOutcome,
    refund: Awaited<ReturnType<ChargeStore['refund']>> | Error = 'refunded',
    readAs?: ReturnType<typeof aCreation>,
  ): Refused {
    const refunds: Refund[] = [];
    const stage = accepting({
      services: {
        executions: stub<Executions>({ start: async () => Promise.resolve(start) }),
        charges: stub<ChargeStore>({
          charge: async () => Promise.resolve({ kind: 'charged' }),
          refund: async (_creation, asked) => {
            refunds.push(asked);
            return refund instanceof Error ? Promise.reject(refund) : Promise.resolve(refund);
          },
        }),
        creations: stub<CreationStore>({ read: async () => Promise.resolve(readAs) }),
      },
    });
    return { ...stage, refunds };
  }

  const ids = { requestId: 'request-1', accountId };
  const alarm = ['alarm start_refused', { ...ids, creationId: id, executionId: id }];

  it('has its charge given back in full, without a webhook, and says so', async () => {
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
  ])('%s', async (_what, refund, readAs, status) => {
    const stage = refusing('refused', refund, readAs);
    expect((await post(stage, body)).status).toBe(status);
    expect(stage.log.entries).toEqual([alarm]);
  });

  it('stands when nobody knows how the refund ended, and the log names the error', async () => {
    const stage = refusing('refused', new TypeError('details'));
    expect((await post(stage, body)).status).toBe(202);
    expect(stage.log.entries).toEqual([
      alarm,
      ['info refund_unclear', { ...ids, creationId: id, error: 'TypeError' }],
    ]);
  });

  it('is accepted when it is unclear whether it was started', async () => {
    const stage = refusing('unclear');
    expect((await post(stage, body)).status).toBe(202);
    expect(stage.refunds).toEqual([]);
    expect(stage.log.entries).toMatchObject([['info creation_accepted', { started: 'unclear' }]]);
  });
});

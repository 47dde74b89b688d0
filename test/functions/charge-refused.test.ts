/** The refusals of POST /images/generate because of money, a limit or a busy table. */
import { describe, expect, it } from 'vitest';
import type { Budget } from '../../core/caps.ts';
import { asMicros } from '../../core/money.ts';
import type { ChargeOutcome } from '../../core/ports/charges.ts';
import { creationId } from '../fixtures/records.ts';
import { accepting, post } from './serve-fixture.ts';

const aBudget = (change: Partial<Budget> = {}): Budget => ({
  period: 'monthly',
  capMicros: asMicros(2_500_000),
  spentMicros: asMicros(1_990_000),
  resetsAt: '2026-12-01T00:00:00.000Z',
  ...change,
});
const body = { model: 'sandbox-standard', prompt: 'a pier' };

describe('the first look at the means', () => {
  const limits = {
    postRate: 60,
    getRate: 600,
    maxConcurrent: 7,
    deadlineSeconds: 300,
    maxUnusedUploads: 100,
  };

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
  ])(
    'A request %s is refused with every number in its place',
    async (_what, setting, status, error, later) => {
      const stage = accepting(setting);
      const answer = await post(stage, body);
      expect([answer.status, answer.headers?.['retry-after'], answer.body]).toEqual([
        status,
        later,
        { error },
      ]);
      expect([stage.orders, stage.counted]).toEqual([[], 1]);
    },
  );

  it('A request to a closed service is refused with the message of the operator, whatever the account can pay', async () => {
    const closed = { message: 'We move.', since: '2026-11-21T12:00:00.000Z' };
    const stage = accepting({ state: { closed }, account: { availableMicros: asMicros(0) } });
    const answer = await post(stage, body);
    const details = { reason: 'overloaded' };
    expect([answer.status, answer.headers?.['retry-after'], answer.body]).toEqual([
      503,
      '60',
      { error: { code: 'ERR_PROVIDER_UNAVAILABLE', message: 'We move.', details } },
    ]);
    expect(stage.orders).toEqual([]);
  });

  it.each<[string, Parameters<typeof accepting>[0]]>([
    ['the balance is the cost', { account: { availableMicros: asMicros(40_000) } }],
    [
      'the budget is the cost',
      { apiKey: { monthlyCapMicros: asMicros(50_000), spent: { '2026_11': asMicros(10_000) } } },
    ],
    ['one more creation may be open', { account: { limits, inFlight: 6 } }],
    ['the service has room for one more', { state: { openCreations: 1_999 } }],
  ])('A request is accepted when %s', async (_what, setting) => {
    expect((await post(accepting(setting), body)).status).toBe(202);
  });
});

describe('a charge that is refused', () => {
  const limits = {
    postRate: 60,
    getRate: 600,
    maxConcurrent: 20,
    deadlineSeconds: 300,
    maxUnusedUploads: 100,
  };
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
      { kind: 'over_budget', budget: aBudget({ capMicros: asMicros(2_000_000) }) },
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
      'the total budget is used up',
      { kind: 'over_budget', budget: aBudget({ period: 'total', resetsAt: null }) },
      402,
      {
        code: 'ERR_INSUFFICIENT_BALANCE',
        message: 'The total budget of this key, 2.50 USD, does not cover the request.',
        details: { reason: 'total_budget_exceeded', cap: 2.5, spent: 1.99, resets_at: null },
      },
      undefined,
    ],
    [
      'the key may no longer order the model',
      { kind: 'model_not_allowed' },
      404,
      {
        code: 'ERR_MODEL_NOT_FOUND',
        message: 'The model "sandbox-standard" is not available to this account.',
        details: {},
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
      { kind: 'idempotency_taken', record: { creationIds: [creationId], requestHash: 'x', expiresAt: 0 } },
      503,
      busy,
      '2',
    ],
  ])('A charge is refused because %s', async (_why, outcome, status, error, retryAfter) => {
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

  it('A refusal over the balance names the page for top-ups of the deployment', async () => {
    const topUpUrl = 'https://shop.test/credits';
    const stage = accepting({ account: { availableMicros: asMicros(0) }, services: { topUpUrl } });
    expect((await post(stage, body)).body).toHaveProperty('error.details.top_up_url', topUpUrl);
  });
});

/** The refusals of POST /images/generate because of money, a limit or a busy table. */
import { describe, expect, it } from 'vitest';
import type { Budget } from '../../service/accounts/caps.ts';
import { defaultLimits } from '../../service/contract/limits.ts';
import type { ChargeOutcome } from '../../service/creations/charges.ts';
import { asMicros } from '../../service/values/money.ts';
import { accepting, post } from '../api/serve-fixture.ts';
import { creationId } from '../fixtures/records.ts';

const aBudget = (change: Partial<Budget> = {}): Budget => ({
  period: 'monthly',
  capMicros: asMicros(2_500_000),
  spentMicros: asMicros(1_990_000),
  resetsAt: '2026-12-01T00:00:00.000Z',
  ...change,
});
const body = { model: 'sandbox-standard', prompt: 'a pier' };

const limits = { ...defaultLimits, maxConcurrent: 7 };

interface Refusal {
  readonly status: number;
  readonly error: { readonly code: string; readonly message: string; readonly details: object };
  readonly retryAfter: string | undefined;
}

function refusal(
  status: number,
  code: string,
  message: string,
  details: object,
  retryAfter?: string,
): Refusal {
  return { status, error: { code, message, details }, retryAfter };
}

const overBudget = (period: string, of: string, cap: number, resets_at: string | null): Refusal =>
  refusal(
    402,
    'ERR_INSUFFICIENT_BALANCE',
    `The ${period} budget of this key, ${of} USD, does not cover the request.`,
    {
      reason: `${period}_budget_exceeded`,
      cap,
      spent: 1.99,
      resets_at,
    },
  );
const overTheBudget = overBudget('monthly', '2.00', 2, '2026-12-01T00:00:00.000Z');
const overTheBalance = refusal(
  402,
  'ERR_INSUFFICIENT_BALANCE',
  'The request costs 0.04 USD, of which 0.030001 USD are available.',
  { required: 0.04, available: 0.030001, currency: 'USD', top_up_url: 'https://portal.test/wallet' },
);
const tooManyOpen = refusal(
  429,
  'ERR_QUOTA_EXCEEDED',
  'This account may have 7 creations open at once.',
  { scope: 'account', reason: 'concurrent_creations', limit: 7, current: 9 },
  '5',
);
const serviceIsFull = refusal(
  429,
  'ERR_QUOTA_EXCEEDED',
  'The service has no room for another creation.',
  { scope: 'service', reason: 'capacity', limit: 2_000, current: 2_001 },
  '5',
);
const disabled = refusal(403, 'ERR_ACCOUNT_DISABLED', 'This account is disabled.', {
  reason: 'account_disabled',
});
const suspended = refusal(
  403,
  'ERR_API_SUSPENDED',
  'API access of this account is paused by its account manager. The portal still works.',
  { reason: 'api_suspended' },
);
const revoked = refusal(401, 'ERR_API_KEY_INVALID', 'The API key is not recognised.', {
  reason: 'api_key_invalid',
});
const overTheRate = refusal(
  429,
  'ERR_RATE_LIMIT',
  'This account may send 60 POST requests a minute.',
  { reason: 'account_rate', limit: 60, window_seconds: 60 },
  '30',
);
const notAllowed = refusal(
  404,
  'ERR_MODEL_NOT_FOUND',
  'The model "sandbox-standard" is not available to this account.',
  {},
);
const busy = refusal(
  503,
  'ERR_PROVIDER_UNAVAILABLE',
  'The service is busy. Nothing was charged: send the request again.',
  { reason: 'overloaded' },
  '2',
);
const spent = { '2026_11': asMicros(1_990_000), '2026_10': asMicros(5) };
const taken = { creationIds: [creationId], requestHash: 'x', expiresAt: 0 } as const;

describe('the first look at the means', () => {
  it.each<[string, Parameters<typeof accepting>[0], Refusal]>([
    ['over the budget', { apiKey: { monthlyCapMicros: asMicros(2_000_000), spent } }, overTheBudget],
    ['over the balance', { account: { availableMicros: asMicros(30_001) } }, overTheBalance],
    ['over the open creations', { account: { limits, inFlight: 9 } }, tooManyOpen],
    ['over the capacity of the service', { state: { openCreations: 2_001 } }, serviceIsFull],
  ])(
    'A request %s is refused with every number in its place',
    async (_what, setting, { status, error, retryAfter }) => {
      const stage = accepting(setting);
      const answer = await post(stage, body);
      expect([answer.status, answer.headers?.['retry-after'], answer.body]).toEqual([
        status,
        retryAfter,
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
  const cap = asMicros(2_000_000);

  it.each<[string, ChargeOutcome, Refusal]>([
    ['the account is suspended', { kind: 'account_not_active', condition: 'suspended' }, suspended],
    ['the account is disabled', { kind: 'account_not_active', condition: 'disabled' }, disabled],
    ['the account is gone', { kind: 'account_not_active', condition: 'gone' }, disabled],
    ['the key is revoked', { kind: 'key_revoked' }, revoked],
    ['the rate is used up', { kind: 'rate_used_up' }, overTheRate],
    ['the budget is used up', { kind: 'over_budget', budget: aBudget({ capMicros: cap }) }, overTheBudget],
    [
      'the total budget is used up',
      { kind: 'over_budget', budget: aBudget({ period: 'total', resetsAt: null }) },
      overBudget('total', '2.50', 2.5, null),
    ],
    ['the key may no longer order the model', { kind: 'model_not_allowed' }, notAllowed],
    [
      'the balance does not cover the cost',
      { kind: 'over_balance', availableMicros: asMicros(30_001) },
      overTheBalance,
    ],
    ['too many creations are open', { kind: 'too_many_open', limit: 7, current: 9 }, tooManyOpen],
    ['the table is busy', { kind: 'overloaded' }, busy],
    ['a key is taken though none was sent', { kind: 'idempotency_taken', record: taken }, busy],
  ])('A charge is refused because %s', async (_why, outcome, { status, error, retryAfter }) => {
    const stage = accepting({ outcome, apiKey: { monthlyCapMicros: cap } });
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

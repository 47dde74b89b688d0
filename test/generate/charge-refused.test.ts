/** The refusals of POST /images/generate because of money, a limit or a busy table. */
import { describe, expect, it } from 'vitest';
import type { Budget } from '../../service/accounts/caps.ts';
import { defaultLimits } from '../../service/contract/limits.ts';
import type { ChargeOutcome } from '../../service/creations/charge.ts';
import { asMicros } from '../../service/values/money.ts';
import { accepting, post } from '../api/serve-fixture.ts';
import { creationId, anAccount, anApiKey, now } from '../fixtures/records.ts';
import type { Caller } from '../../service/api/admit.ts';
import { overBudget } from '../../service/api/problems.ts';
import { checkMeans } from '../../service/generate/charge.ts';
import { Problem } from '../../service/values/problem.ts';
import { stub } from '../api/fakes.ts';

const aBudget = (change: Partial<Budget> = {}): Budget => ({
  period: 'monthly',
  capMicros: asMicros(2_500_000),
  spentMicros: asMicros(1_990_000),
  resetsAt: '2026-12-01T00:00:00.000Z',
  ...change,
});
const body = { model: 'sandbox-standard', prompt: 'a pier' };

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

const refusedBudget = (period: string, of: string, cap: number, resets_at: string | null): Refusal =>
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
const overTheBudget = refusedBudget('monthly', '2.00', 2, '2026-12-01T00:00:00.000Z');
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
const taken = { creationIds: [creationId], requestHash: 'x', expiresAt: 0 } as const;

describe('the first check of the means', () => {
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
      refusedBudget('total', '2.50', 2.5, null),
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

it('A refusal over the monthly budget does not name the user', () => {
  expect(overBudget(aBudget(), 'customer 7').details).not.toHaveProperty('user');
});

function callerWith(openCreations: number, account = anAccount(), apiKey = anApiKey()): Caller {
  const state = { rateCount: 0, openCreations, enabledProviders: [] };
  return { account, apiKey, nowMillis: now, state, rateSlot: stub({}) };
}

interface Means {
  readonly available?: number;
  readonly inFlight?: number;
  readonly open?: number;
  readonly cap?: number;
  readonly spent?: number;
  readonly daily?: number;
  readonly today?: number;
  readonly total?: number;
  readonly perUser?: number;
  readonly userSpent?: number;
}

/** Why a charge of 0.04 USD is refused: the reason, or the code of a refusal without a reason. */
function against({
  available = 40_000,
  inFlight = 0,
  open = 0,
  cap,
  spent = 0,
  daily,
  today = 0,
  total,
  perUser,
  userSpent = 0,
}: Means): unknown {
  const account = anAccount({
    availableMicros: asMicros(available),
    inFlight,
    limits: { ...defaultLimits, maxConcurrent: 3 },
  });
  const apiKey = anApiKey({
    ...(cap !== undefined && { monthlyCapMicros: asMicros(cap) }),
    ...(daily !== undefined && { dailyCapMicros: asMicros(daily) }),
    ...(total !== undefined && { totalCapMicros: asMicros(total) }),
    ...(perUser !== undefined && { perUserMonthlyCapMicros: asMicros(perUser) }),
    spent: { '2026_11': asMicros(spent), '2026_10': asMicros(9_000_000) },
    spentByDay: { '2026_11_21': asMicros(today), '2026_11_20': asMicros(8_000_000) },
  });
  try {
    const caller = callerWith(open, account, apiKey);
    checkMeans(
      { ...caller, state: { ...caller.state, userSpentMicros: asMicros(userSpent) } },
      { cost: asMicros(40_000), count: 1, user: 'customer 7' },
      { topUpUrl: 'https://portal.test', serviceCapacity: 2_000 },
    );
    return 'nothing';
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return error.details['reason'] ?? error.code;
  }
}

describe('the first check of the means', () => {
  it.each<[Means, string]>([
    [{}, 'nothing'],
    [{ available: 39_999 }, 'ERR_INSUFFICIENT_BALANCE'],
    [{ inFlight: 2 }, 'nothing'],
    [{ inFlight: 3 }, 'concurrent_creations'],
    [{ inFlight: 4 }, 'concurrent_creations'],
    [{ open: 1_999 }, 'nothing'],
    [{ open: 2_000 }, 'capacity'],
    [{ cap: 40_000 }, 'nothing'],
    [{ cap: 40_000, spent: 1 }, 'monthly_budget_exceeded'],
    [{ cap: 100_000, spent: 60_000 }, 'nothing'],
    [{ cap: 39_999 }, 'monthly_budget_exceeded'],
    [{ cap: 0 }, 'monthly_budget_exceeded'],
    [{ cap: 0, available: 0, inFlight: 9, open: 9_000 }, 'monthly_budget_exceeded'],
    [{ daily: 40_000 }, 'nothing'],
    [{ daily: 40_000, today: 1 }, 'daily_budget_exceeded'],
    [{ total: 9_040_000 }, 'nothing'],
    [{ total: 9_040_000, spent: 1 }, 'total_budget_exceeded'],
    [{ total: 9_039_999 }, 'total_budget_exceeded'],
    [{ perUser: 100_000, userSpent: 60_000 }, 'nothing'],
    [{ perUser: 100_000, userSpent: 60_001, available: 0 }, 'user_budget_exceeded'],
    [{ daily: 0, cap: 0, total: 0, perUser: 0 }, 'daily_budget_exceeded'],
    [{ cap: 0, total: 0, perUser: 0 }, 'monthly_budget_exceeded'],
    [{ total: 0, perUser: 0 }, 'total_budget_exceeded'],
    [{ available: 0, inFlight: 9, open: 9_000 }, 'ERR_INSUFFICIENT_BALANCE'],
    [{ inFlight: 9, open: 9_000 }, 'concurrent_creations'],
  ])('The means %j lead to: %s', (means, reason) => {
    expect(against(means)).toBe(reason);
  });
});

/** Refusals because of money and room. All numbers differ, so a number in the wrong place is noticed. */
import { describe, expect, it } from 'vitest';
import type { Caller } from '../../service/api/admit.ts';
import { overBudget } from '../../service/api/problems.ts';
import { checkMeans } from '../../service/generate/charge.ts';
import { asMicros } from '../../service/values/money.ts';
import { Problem } from '../../service/values/problem.ts';
import { stub } from '../api/fakes.ts';
import { anAccount, anApiKey, now } from '../fixtures/records.ts';

const shown = ({ status, code, details, headers }: Problem): object => ({ status, code, details, headers });

describe('a refusal because of money or room', () => {
  it('A refusal over the budget says the cap, the amount spent and when the next month begins', () => {
    const budget = {
      capMicros: asMicros(500_000),
      spentMicros: asMicros(490_000),
      resetsAt: '2026-12-01T00:00:00.000Z',
    };
    const ofUser = overBudget({ ...budget, period: 'user' }, 'customer 7');
    expect(ofUser.details).toEqual({
      reason: 'user_budget_exceeded',
      cap: 0.5,
      spent: 0.49,
      resets_at: '2026-12-01T00:00:00.000Z',
      user: 'customer 7',
    });
    expect(shown(overBudget({ ...budget, period: 'monthly' }, 'customer 7'))).toEqual({
      status: 402,
      code: 'ERR_INSUFFICIENT_BALANCE',
      headers: {},
      details: {
        reason: 'monthly_budget_exceeded',
        cap: 0.5,
        spent: 0.49,
        resets_at: '2026-12-01T00:00:00.000Z',
      },
    });
  });
});

function callerWith(openCreations: number, account = anAccount(), apiKey = anApiKey()): Caller {
  const state = { rateCount: 0, openCreations, enabledProviders: [] };
  return { account, apiKey, nowMillis: now, state, place: stub({}) };
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
    limits: { postRate: 60, getRate: 600, maxConcurrent: 3, deadlineSeconds: 300, maxUnusedUploads: 100 },
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
      { cost: asMicros(40_000), user: 'customer 7' },
      { topUpUrl: 'https://portal.test', serviceCapacity: 2_000 },
    );
    return 'nothing';
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return error.details['reason'] ?? error.code;
  }
}

describe('the first look at the means', () => {
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

/** The limits of which tests show that they are exact. */
import type { Budget } from '../../service/accounts/caps.ts';
import type { ChargeOutcome } from '../../service/creations/charge.ts';
import { asMicros } from '../../service/values/money.ts';
import { anyText } from '../fixtures/values.ts';
import { costUsd, userOfTheCrowd } from './crowd.ts';
import { type Limit, roomForAll } from './exact-limits.ts';
import type { Refusal } from './refusal.ts';

/** The address for top-ups that the services of these tests name. */
export const topUpUrl = 'https://portal.test/wallet';

/** What the charges beyond a cap of 0.03 USD get. */
function overBudget(period: Budget['period']): ChargeOutcome {
  const resetsAt = period === 'total' ? null : (anyText as string);
  return {
    kind: 'over_budget',
    budget: { period, capMicros: asMicros(30_000), spentMicros: asMicros(30_000), resetsAt },
  };
}

/** The answer to the requests beyond a cap of 0.03 USD. */
function beyond(reason: string, more: object = {}): Refusal {
  const details = { reason, cap: 0.03, spent: 0.03, resets_at: anyText, ...more };
  return { status: 402, code: 'ERR_INSUFFICIENT_BALANCE', details };
}

export const moneyLimits: readonly Limit[] = [
  {
    name: 'a wallet that covers exactly three',
    client: { ...roomForAll, balance: '0.03' },
    accepted: 3,
    refusal: {
      status: 402,
      code: 'ERR_INSUFFICIENT_BALANCE',
      details: {
        required: costUsd,
        available: 0,
        currency: 'USD',
        top_up_url: topUpUrl,
      },
    },
    outcome: { kind: 'over_balance', availableMicros: asMicros(0) },
  },
  {
    name: 'a monthly cap that covers exactly three',
    client: { ...roomForAll, monthlyCap: '0.03' },
    accepted: 3,
    refusal: beyond('monthly_budget_exceeded'),
    outcome: overBudget('monthly'),
  },
  {
    name: 'a daily cap that covers exactly three',
    client: { ...roomForAll, dailyCap: '0.03' },
    accepted: 3,
    refusal: beyond('daily_budget_exceeded'),
    outcome: overBudget('daily'),
  },
  {
    name: 'a total cap that covers exactly three',
    client: { ...roomForAll, totalCap: '0.03' },
    accepted: 3,
    refusal: beyond('total_budget_exceeded', { resets_at: null }),
    outcome: overBudget('total'),
  },
  {
    name: 'a cap for each user that covers exactly three',
    client: { ...roomForAll, perUserMonthlyCap: '0.03' },
    accepted: 3,
    refusal: beyond('user_budget_exceeded', { user: userOfTheCrowd }),
    outcome: overBudget('user'),
  },
];

export const roomLimits: readonly Limit[] = [
  {
    name: 'a limit of five concurrent creations',
    client: { ...roomForAll, maxConcurrent: '5' },
    accepted: 5,
    refusal: {
      status: 429,
      code: 'ERR_QUOTA_EXCEEDED',
      details: { scope: 'account', reason: 'concurrent_creations', limit: 5, current: 5 },
    },
    outcome: { kind: 'too_many_open', limit: 5, current: 5 },
  },
  {
    name: 'a rate of sixty a minute',
    client: { ...roomForAll, postRate: '60' },
    accepted: 60,
    refusal: {
      status: 429,
      code: 'ERR_RATE_LIMIT',
      details: { reason: 'account_rate', limit: 60, window_seconds: 60 },
    },
    outcome: { kind: 'rate_used_up' },
  },
];

/**
 * Wallet and budget are exact, however many requests come at once. exact-limits.ts says how this is tested.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Budget } from '../../core/caps.ts';
import { asMicros } from '../../core/money.ts';
import type { ChargeOutcome } from '../../core/ports/charges.ts';
import { startTestService, type TestService } from '../fixtures/service.ts';
import { costUsd, crowdSize, requestsAtOnce, userOfTheCrowd } from './crowd.ts';
import { everyAnswer } from './every-answer.ts';
import { exactLimits, roomForAll, charged, isAccepted } from './exact-limits.ts';
import type { Refusal } from './refusal.ts';
import { anyText } from '../fixtures/values.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ environment: { TOP_UP_URL: 'https://portal.test/wallet' } });
});
afterAll(() => service.end());

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

exactLimits(
  [
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
          top_up_url: 'https://portal.test/wallet',
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
  ],
  () => service,
);

describe('two hundred requests at once with one Idempotency-Key', () => {
  it('The requests make one creation and one charge, and all are answered 202 with that creation', async () => {
    const client = await service.client(roomForAll);
    const answers = await requestsAtOnce(service, client, { 'idempotency-key': 'one for all' });
    expect(
      new Set(answers.map(({ status, body }) => `${status} ${(body as { id?: string }).id ?? ''}`)).size,
    ).toBe(1);
    expect(answers.every(isAccepted)).toBe(true);
    expect(answers.filter(({ headers }) => headers.get('idempotent-replayed') === 'true')).toHaveLength(
      crowdSize - 1,
    );
    expect(await charged(service, client)).toBe(1);
  });
});

everyAnswer(() => service);

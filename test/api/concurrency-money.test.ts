/**
 * Wallet and budget are exact, however many requests come at once. exact-limits.ts says how this is tested.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { asMicros } from '../../core/money.ts';
import { startTestService, type TestService } from '../fixtures/service.ts';
import { costUsd, crowdSize, requestsAtOnce } from './crowd.ts';
import { everyAnswer } from './every-answer.ts';
import { exactLimits, roomForAll, charged, isAccepted } from './exact-limits.ts';
import { anyText } from '../fixtures/values.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ environment: { TOP_UP_URL: 'https://portal.test/wallet' } });
});
afterAll(() => service.end());

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
      refusal: {
        status: 402,
        code: 'ERR_INSUFFICIENT_BALANCE',
        details: {
          reason: 'monthly_budget_exceeded',
          cap: 0.03,
          spent: 0.03,
          resets_at: anyText,
        },
      },
      outcome: { kind: 'over_budget', spentMicros: asMicros(30_000) },
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

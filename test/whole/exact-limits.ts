/** The limits of which tests show that they are exact, and what those tests share. */
import type { Budget } from '../../service/accounts/caps.ts';
import type { ChargeOutcome } from '../../service/creations/charge.ts';
import { asMicros } from '../../service/values/money.ts';
import type { Answer, Client, NewClient, TestService } from '../fixtures/service.ts';
import { anyText } from '../fixtures/values.ts';
import { costUsd, userOfTheBurst } from './bursts.ts';
import type { Refusal } from './refusal.ts';

/** The address for top-ups that the services of these tests name. */
export const topUpUrl = 'https://portal.test/wallet';

export const roomForAll: NewClient = { balance: '100', postRate: '10000', maxConcurrent: '1000' };

export interface Limit {
  readonly name: string;
  readonly client: NewClient;
  readonly accepted: number;
  readonly refusal: Refusal;
  readonly outcome: ChargeOutcome;
}

/** A cap of 0.03 USD, and what the requests and the charges beyond it get. */
function capOf(
  name: string,
  cap: NewClient,
  reason: string,
  period: Budget['period'],
  more: object = {},
): Limit {
  const [resetsAt, micros] = [period === 'total' ? null : (anyText as string), asMicros(30_000)];
  const details = { reason, cap: 0.03, spent: 0.03, resets_at: resetsAt, ...more };
  return {
    name: `${name} that covers exactly three`,
    client: { ...roomForAll, ...cap },
    accepted: 3,
    refusal: { status: 402, code: 'ERR_INSUFFICIENT_BALANCE', details },
    outcome: { kind: 'over_budget', budget: { period, capMicros: micros, spentMicros: micros, resetsAt } },
  };
}

export const limits: readonly Limit[] = [
  {
    name: 'a wallet that covers exactly three',
    client: { ...roomForAll, balance: '0.03' },
    accepted: 3,
    refusal: {
      status: 402,
      code: 'ERR_INSUFFICIENT_BALANCE',
      details: { required: costUsd, available: 0, currency: 'USD', top_up_url: topUpUrl },
    },
    outcome: { kind: 'over_balance', availableMicros: asMicros(0) },
  },
  capOf('a monthly cap', { monthlyCap: '0.03' }, 'monthly_budget_exceeded', 'monthly'),
  capOf('a daily cap', { dailyCap: '0.03' }, 'daily_budget_exceeded', 'daily'),
  capOf('a total cap', { totalCap: '0.03' }, 'total_budget_exceeded', 'total'),
  capOf('a cap for each user', { perUserMonthlyCap: '0.03' }, 'user_budget_exceeded', 'user', {
    user: userOfTheBurst,
  }),
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

/** Requests are accepted, but nothing is rendered, so no creation ends and makes room. */
export function startNothing({ machine }: TestService): void {
  machine.faults.set({ call: 'states:StartExecution', error: 'Throttling', every: 1 });
}

export const isAccepted = ({ status }: Answer): boolean => status === 202;

export async function charged({ operator }: TestService, { account }: Client): Promise<number> {
  return (await operator.wallet.ledger(account.id)).filter(({ kind }) => kind === 'charge').length;
}

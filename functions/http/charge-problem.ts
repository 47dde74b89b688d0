/** Refusals that have to do with money and room, from the first look and from the transaction alike. */
import type { ApiKey } from '../../core/account.ts';
import { monthOf, nextMonth } from '../../core/creation.ts';
import { serviceCapacity } from '../../core/limits.ts';
import { asMicros, formatUsd, toUsd, type Micros } from '../../core/money.ts';
import { Problem, retryLater } from '../../core/problem.ts';
import type { Caller } from './caller.ts';

/** An open creation usually ends within this time. */
const roomRetrySeconds = 5;

/** 402: balance plus credit line does not cover the cost. */
export function overBalance(required: Micros, available: Micros, topUpUrl: string): Problem {
  return new Problem(
    'ERR_INSUFFICIENT_BALANCE',
    `The request costs ${formatUsd(required)}, of which ${formatUsd(available)} are available.`,
    { required: toUsd(required), available: toUsd(available), currency: 'USD', top_up_url: topUpUrl },
  );
}

/** 402: the key's cap for this UTC month would be exceeded. */
export function overBudget(cap: Micros, spent: Micros, nowMillis: number): Problem {
  return new Problem(
    'ERR_INSUFFICIENT_BALANCE',
    `The monthly budget of this key, ${formatUsd(cap)}, does not cover the request.`,
    {
      reason: 'monthly_budget_exceeded',
      cap: toUsd(cap),
      spent: toUsd(spent),
      resets_at: nextMonth(nowMillis),
    },
  );
}

/** 429: as many creations are open as the account may have at once. */
export function tooManyOpen(limit: number, current: number): Problem {
  const message = `This account may have ${limit} creations open at once.`;
  return retryLater(
    'ERR_QUOTA_EXCEEDED',
    message,
    { scope: 'account', reason: 'concurrent_creations', limit, current },
    roomRetrySeconds,
  );
}

function serviceIsFull(current: number): Problem {
  const details = { scope: 'service', reason: 'capacity', limit: serviceCapacity, current };
  return retryLater(
    'ERR_QUOTA_EXCEEDED',
    'The service has no room for another creation.',
    details,
    roomRetrySeconds,
  );
}

/** What the key may still spend this month; undefined when it has no cap. */
function overCap(apiKey: ApiKey, cost: Micros, nowMillis: number): Problem | undefined {
  const cap = apiKey.monthlyCapMicros;
  const spent = apiKey.spent[monthOf(nowMillis)] ?? asMicros(0);
  return cap !== undefined && spent + cost > cap ? overBudget(cap, spent, nowMillis) : undefined;
}

/** A first look at budget, balance and quota, in this order; the transaction decides again. Throws what stands against the charge. */
export function checkMeans(caller: Caller, cost: Micros, topUpUrl: string): void {
  const { account, apiKey, state, nowMillis } = caller;
  const problem = overCap(apiKey, cost, nowMillis);
  if (problem) throw problem;
  if (account.availableMicros < cost) throw overBalance(cost, account.availableMicros, topUpUrl);
  if (account.inFlight >= account.limits.maxConcurrent)
    throw tooManyOpen(account.limits.maxConcurrent, account.inFlight);
  if (state.openCreations >= serviceCapacity) throw serviceIsFull(state.openCreations);
}

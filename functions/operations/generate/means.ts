/** What an account and its key can pay for, and how many creations they may have open. */
import { exceededBudget } from '../../../core/caps.ts';
import { asMicros, type Micros } from '../../../core/money.ts';
import type { Caller } from '../../http/caller.ts';
import { overBalance, overBudget, serviceIsFull, tooManyOpen } from '../../http/problems.ts';
import type { SubmitServices } from '../../services/submit.ts';
import type { Plan } from './plan.ts';

/** What a request asks of the means. */
export interface Demand {
  /** Of all its creations. */
  readonly cost: Micros;
  /** How many creations. Absent: one. */
  readonly count?: number;
  /** For whom, as far as the request says. */
  readonly user: string | undefined;
}

/**
 * A first check of budget, balance and quota, in this order. It spares the downloads of a request that the
 * charge would refuse; the charge's transaction decides again. Throws what stands against the charge.
 */
export function checkMeans(
  caller: Caller,
  { cost, user, count = 1 }: Demand,
  { topUpUrl, serviceCapacity }: Pick<SubmitServices, 'topUpUrl' | 'serviceCapacity'>,
): void {
  const { account, apiKey, state, nowMillis } = caller;
  const budget = exceededBudget(apiKey, cost, nowMillis, state.userSpentMicros ?? asMicros(0));
  if (budget) throw overBudget(budget, user);
  if (account.availableMicros < cost) throw overBalance(cost, account.availableMicros, topUpUrl);
  const { maxConcurrent } = account.limits;
  if (account.inFlight + count > maxConcurrent) throw tooManyOpen(maxConcurrent, account.inFlight);
  if (state.openCreations + count > serviceCapacity)
    throw serviceIsFull(serviceCapacity, state.openCreations);
}

/** The demand of all creations of a plan. */
export function demandOf({ plan, count = 1 }: { readonly plan: Plan; readonly count?: number }): Demand {
  return { cost: asMicros(plan.costMicros * count), count, user: plan.request.user };
}

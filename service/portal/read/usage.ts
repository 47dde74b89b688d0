/** The usage of an account, as figures and as CSV. */
import { playgroundKeyId, playgroundName } from '../../accounts/key-changes.ts';
import { budgetVersion } from '../../accounts/version.ts';
import type { ApiRequest } from '../../api/request.ts';
import type { BudgetView } from '../../contract/portal-views.ts';
import { dayBefore } from '../../usage/day-sums.ts';
import { type Forecast, forecastFrom, forecastOf } from '../../usage/forecast.ts';
import { usageDimensions } from '../../usage/usage.ts';
import { toUsd } from '../../values/money.ts';
import { csvLine } from '../../values/csv.ts';
import type { MemberCaller } from '../http/caller.ts';
import { type ShownUsage, usageCsv, usageView } from '../usage-view.ts';
import { csvAnswer } from './ledger.ts';
import type { ReadHandle, ReadServices } from './open.ts';
import { choiceOf, daysOf, oneOf, parametersOf } from '../../operated/parameters.ts';

async function usedDays(
  request: ApiRequest,
  { account, nowMillis }: MemberCaller,
  { usage, reads }: ReadServices,
): Promise<ShownUsage> {
  const parameters = parametersOf(request);
  const by = parameters.read('by', oneOf(usageDimensions), choiceOf(usageDimensions)) ?? 'day';
  const range = daysOf(parameters, nowMillis);
  // The clock of the command that opened the account may have been ahead.
  const since = dayBefore(account.createdAt.slice(0, 10));
  const [days, keys] = await Promise.all([
    usage.days(account.id, { ...range, by, since, nowMillis }),
    by === 'key' ? reads.keys(account.id) : [],
  ]);
  const names = new Map<string, string>(keys.map(({ id, name }) => [id, name]));
  return { range, by, days, ...(by === 'key' && { names: names.set(playgroundKeyId, playgroundName) }) };
}

export const exportUsage: ReadHandle<'exportUsage'> = async (request, caller, services) => {
  const shown = await usedDays(request, caller, services);
  const { from, to } = shown.range;
  return csvAnswer(usageCsv(shown).map(csvLine), `usage-${from}-${to}-${shown.by}.csv`);
};

/** Success and times are computed from at most this number of creations. */
const sampled = 300;

/** GET /usage: what was spent on some days, by day, key, model or user; ?from, ?to and ?by. */
export const getUsage: ReadHandle<'getUsage'> = async (request, caller, services) => {
  const shown = await usedDays(request, caller, services);
  const [sample, month] = await Promise.all([
    services.usage.newest(caller.account.id, shown.range, sampled),
    spendOfMonth(caller, services),
  ]);
  return { status: 200, body: usageView(shown, sample, month) };
};

async function spendOfMonth(
  { account, nowMillis }: MemberCaller,
  { usage }: ReadServices,
): Promise<Forecast & { readonly budget: BudgetView }> {
  const today = new Date(nowMillis).toISOString().slice(0, 10);
  const opened = account.createdAt.slice(0, 10);
  const range = { from: forecastFrom(today), to: today };
  const days = await usage.days(account.id, { ...range, by: 'day', since: dayBefore(opened), nowMillis });
  const spent = days.map(({ day, groups }) => ({
    day,
    spentMicros: [...groups.values()].reduce(
      (sum, { chargedMicros, refundedMicros }) => sum + chargedMicros - refundedMicros,
      0,
    ),
  }));
  const { monthlyBudgetMicros: micros } = account;
  const budget = {
    monthly_budget: micros === undefined ? null : toUsd(micros),
    version: budgetVersion(account),
  };
  return { ...forecastOf(spent, today, opened), budget };
}

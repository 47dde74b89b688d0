/** The usage of an account, as figures and as CSV. */
import { playgroundKeyId, playgroundName } from '../../accounts/key-changes.ts';
import { budgetVersion } from '../../accounts/version.ts';
import type { ApiRequest } from '../../api/request.ts';
import type { BudgetView } from '../../contract/portal-views.ts';
import type { Days } from '../../usage/booked-row.ts';
import { dayBefore, type UsageDay } from '../../usage/day-sums.ts';
import { forecastFrom, forecastOf, type SpentDay } from '../../usage/forecast.ts';
import { usageDimensions } from '../../usage/usage.ts';
import { toUsd } from '../../values/money.ts';
import { csvLine } from '../../values/csv.ts';
import type { MemberCaller } from '../http/caller.ts';
import { type ShownUsage, usageCsv, usageView } from '../usage-view.ts';
import { csvAnswer } from './ledger.ts';
import type { ReadHandle, ReadServices } from './open.ts';
import { choiceOf, daysOf, oneOf, parametersOf } from '../../operated/parameters.ts';

/** What was asked for, and the days that were read for it. */
interface Used {
  readonly shown: ShownUsage;
  readonly all: readonly UsageDay[];
}

/** @param also days that are read in the same way, if they meet the range: the days of a range are few reads */
async function usedDays(
  request: ApiRequest,
  { account, nowMillis }: MemberCaller,
  { usage, reads }: ReadServices,
  also?: Days,
): Promise<Used> {
  const parameters = parametersOf(request);
  const by = parameters.read('by', oneOf(usageDimensions), choiceOf(usageDimensions)) ?? 'day';
  const range = daysOf(parameters, nowMillis);
  const [all, keys] = await Promise.all([
    usage.days(account.id, { ...joined(range, also), by, since: firstDayOf(account), nowMillis }),
    by === 'key' ? reads.keys(account.id) : [],
  ]);
  const names = new Map<string, string>(keys.map(({ id, name }) => [id, name]));
  const days = all.filter(({ day }) => day >= range.from && day <= range.to);
  const shown = {
    range,
    by,
    days,
    ...(by === 'key' && { names: names.set(playgroundKeyId, playgroundName) }),
  };
  return { shown, all };
}

/** The clock of the command that opened the account may have been ahead. */
export function firstDayOf({ createdAt }: MemberCaller['account']): string {
  return dayBefore(createdAt.slice(0, 10));
}

function joined(range: Days, also: Days | undefined): Days {
  if (also === undefined || range.to < also.from || range.from > also.to) return range;
  return {
    from: range.from < also.from ? range.from : also.from,
    to: range.to > also.to ? range.to : also.to,
  };
}

export const exportUsage: ReadHandle<'exportUsage'> = async (request, caller, services) => {
  const { shown } = await usedDays(request, caller, services);
  const { from, to } = shown.range;
  return csvAnswer(usageCsv(shown).map(csvLine), `usage-${from}-${to}-${shown.by}.csv`);
};

/** Success and times are computed from at most this number of creations. */
const sampled = 300;

/** GET /usage: what was spent on some days, by day, key, model or user; ?from, ?to and ?by. */
export const getUsage: ReadHandle<'getUsage'> = async (request, caller, services) => {
  const { account, nowMillis } = caller;
  const today = new Date(nowMillis).toISOString().slice(0, 10);
  const month = { from: forecastFrom(today), to: today };
  const { shown, all } = await usedDays(request, caller, services, month);
  const isRead = joined(shown.range, month) !== shown.range;
  const since = firstDayOf(account);
  const [sample, days] = await Promise.all([
    services.usage.newest(account.id, shown.range, sampled),
    isRead ? all : services.usage.days(account.id, { ...month, by: 'day', since, nowMillis }),
  ]);
  const ofMonth = days.filter(({ day }) => day >= month.from && day <= month.to);
  const forecast = forecastOf(ofMonth.map(spentDay), today, account.createdAt.slice(0, 10));
  return { status: 200, body: usageView(shown, sample, { ...forecast, budget: budgetOf(account) }) };
};

function spentDay({ day, groups }: UsageDay): SpentDay {
  const spentMicros = [...groups.values()].reduce(
    (sum, { chargedMicros, refundedMicros }) => sum + chargedMicros - refundedMicros,
    0,
  );
  return { day, spentMicros };
}

function budgetOf(account: MemberCaller['account']): BudgetView {
  const { monthlyBudgetMicros: micros } = account;
  return {
    monthly_budget: micros === undefined ? null : toUsd(micros),
    version: budgetVersion(account),
  };
}

/** Usage of a range of days as the portal shows it, and as lines of CSV. */
import type { BudgetView, UsageLine, UsageView } from '../contract/portal-views.ts';
import type { Days } from '../usage/booked-row.ts';
import { addTo, noUsage, plus, type UsageDay, type UsageSum } from '../usage/day-sums.ts';
import type { Forecast } from '../usage/forecast.ts';
import type { TimedCreation } from '../usage/usage-store.ts';
import type { UsageDimension } from '../usage/usage.ts';
import type { Cell } from '../values/csv.ts';
import { asMicros, toUsd } from '../values/money.ts';

/** Number of groups in the chart. All others are shown as one. */
const chartGroups = 7;
const others = 'other';
/** Number of lines on the page. The file has all lines. */
const mostLines = 1_000;

export interface ShownUsage {
  readonly range: Days;
  readonly by: UsageDimension;
  readonly days: readonly UsageDay[];
  readonly names?: ReadonlyMap<string, string>;
}

/** @param sample the newest creations of the range */
export function usageView(
  shown: ShownUsage,
  sample: readonly TimedCreation[],
  month: Forecast & { readonly budget: BudgetView },
): UsageView {
  const groups = groupsOf(shown);
  const total = groups.reduce((sum, [, own]) => plus(sum, own), noUsage);
  const ended = sample.filter(({ status }) => status === 'completed' || status === 'failed');
  const seconds = ended.flatMap(secondsOf).sort((a, b) => a - b);
  return {
    ...shown.range,
    by: shown.by,
    lines: groups.slice(0, mostLines).map(([group, sum]) => lineOf(group, sum, shown)),
    ...(groups.length > mostLines && { lines_left_out: groups.length - mostLines }),
    days: chartOf(shown, groups),
    total: figuresOf(total),
    month: {
      spent: toUsd(month.spentMicros),
      at_end: month.forecastMicros === undefined ? null : toUsd(month.forecastMicros),
      budget: month.budget,
    },
    success_rate: ended.length === 0 ? null : seconds.length / ended.length,
    seconds:
      seconds.length === 0
        ? null
        : { p50: percentile(seconds, 50), p95: percentile(seconds, 95), of: seconds.length },
  };
}

export function usageCsv(shown: ShownUsage): Cell[][] {
  const { by, names } = shown;
  const header = [by, ...(names ? ['name'] : []), 'creations', 'failed', 'charged', 'refunded', 'spent'];
  const lines = groupsOf(shown).map(([group, sum]): Cell[] => [
    group,
    ...(names ? [group === null ? null : (names.get(group) ?? null)] : []),
    sum.creations,
    sum.failed,
    { usd: asMicros(sum.chargedMicros) },
    { usd: asMicros(sum.refundedMicros) },
    { usd: asMicros(sum.chargedMicros - sum.refundedMicros) },
  ]);
  return [header, ...lines];
}

/** Days in their order; other groups by what they spent. Groups that used nothing are left out. */
function groupsOf({ by, days }: ShownUsage): [string | null, UsageSum][] {
  const sums = new Map<string | null, UsageSum>();
  for (const { groups } of days) for (const [group, sum] of groups) addTo(sums, group, sum);
  const spent = ({ chargedMicros, refundedMicros }: UsageSum): number => chargedMicros - refundedMicros;
  const inOrder = [...sums].sort(([one], [other]) => ((one ?? '') < (other ?? '') ? -1 : 1));
  return by === 'day' ? inOrder : inOrder.sort(([, one], [, other]) => spent(other) - spent(one));
}

function chartOf({ by, days }: ShownUsage, groups: readonly [string | null, UsageSum][]): UsageView['days'] {
  const shown = new Set(groups.slice(0, chartGroups).map(([group]) => group));
  return days.map(({ day, groups: own }) => {
    const spent = new Map<string, number>();
    for (const [group, { chargedMicros, refundedMicros }] of own) {
      const name = by === 'day' ? 'spent' : shown.has(group) ? (group ?? '') : others;
      spent.set(name, (spent.get(name) ?? 0) + chargedMicros - refundedMicros);
    }
    const usd = [...spent].map(([name, micros]): [string, number] => [name, toUsd(asMicros(micros))]);
    return { day, spent: Object.fromEntries(usd) };
  });
}

function lineOf(group: string | null, sum: UsageSum, { names }: ShownUsage): UsageLine {
  return {
    group,
    ...(names && { name: group === null ? null : (names.get(group) ?? null) }),
    ...figuresOf(sum),
  };
}

function figuresOf({ creations, failed, chargedMicros, refundedMicros }: UsageSum): UsageView['total'] {
  return {
    creations,
    failed,
    charged: toUsd(asMicros(chargedMicros)),
    refunded: toUsd(asMicros(refundedMicros)),
    spent: toUsd(asMicros(chargedMicros - refundedMicros)),
  };
}

function secondsOf({ status, createdAt, completedAt }: TimedCreation): number[] {
  if (status !== 'completed' || completedAt === undefined) return [];
  return [(Date.parse(completedAt) - Date.parse(createdAt)) / 1000];
}

/** The smallest value that at least this share of the sorted values does not exceed. */
function percentile(sorted: readonly number[], percent: number): number {
  return sorted[Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)] ?? 0;
}

/** What clients used and what the operator earned, and the catalog, in the operator API. */
import { isEnabled, providerNames } from '../catalog/providers.ts';
import { checkReportedDays, marginOf, plainCells, readAllBooked } from '../operated/margin.ts';
import { choiceOf, daysOf, oneOf, parametersOf } from '../operated/parameters.ts';
import { marginDimensions } from '../usage/margin.ts';
import { sumUsage, usageCells, type UsageDimension, usageDimensions } from '../usage/usage.ts';
import type { Days } from '../usage/booked-row.ts';
import { accountOf, type OperatorContext, reading } from './context.ts';

function asked<By extends string>(
  { request, nowMillis }: OperatorContext,
  dimensions: readonly By[],
): { readonly days: Days; readonly by: By | 'day' } {
  const parameters = parametersOf(request);
  const by = parameters.read('by', oneOf(dimensions), choiceOf(dimensions)) ?? 'day';
  return { days: daysOf(parameters, nowMillis), by };
}

function usageView(days: Days, by: UsageDimension, sums: ReturnType<typeof sumUsage>): object {
  return {
    ...days,
    by,
    data: sums.groups().map(({ group, sums: own }) => ({ group, ...plainCells(usageCells(own)) })),
    total: plainCells(usageCells(sums.total())),
  };
}

export const getUsage = reading(async (context) => {
  const { days, by } = asked(context, usageDimensions);
  const { id } = await accountOf(context);
  const sums = sumUsage(by);
  for await (const rows of context.services.operated.bookedRows(id, days))
    for (const row of rows) sums.add(row);
  return { status: 200, body: { account: id, ...usageView(days, by, sums) } };
});

export const reportUsage = reading(async (context) => {
  const { days, by } = asked(context, usageDimensions);
  checkReportedDays(days);
  const sums = sumUsage(by);
  await readAllBooked(context.services.operated, days, (_account, row) => sums.add(row));
  return { status: 200, body: usageView(days, by, sums) };
});

export const reportMargin = reading(async (context) => {
  const { days, by } = asked(context, marginDimensions);
  checkReportedDays(days);
  const { lines, total, moneyIn } = await marginOf(context.services.operated, days, by);
  return { status: 200, body: { ...days, by, data: lines, total, money_in: moneyIn } };
});

export const listProviders = reading(async ({ services }) => {
  const { enabled, pauses } = await services.providers.standing();
  const data = providerNames(enabled).map((name) => ({
    name,
    enabled: isEnabled(name, enabled),
    paused_since: pauses[name]?.since ?? null,
  }));
  return { status: 200, body: { data } };
});

/** The catalog as it is sold, with the routes and what each of them costs. */
export const listModels = reading(async ({ services }) => {
  const [{ models, costsOf }, { enabled, pauses }] = await Promise.all([
    services.costed(),
    services.providers.standing(),
  ]);
  const data = models.map((model) => ({
    id: model.id,
    name: model.name,
    prices: model.pricing,
    routes: model.routes.map((route) => ({
      provider: route.provider,
      resolutions: route.resolutions,
      enabled: isEnabled(route.provider, enabled) && pauses[route.provider] === undefined,
      costs: costsOf(route),
    })),
    deprecated_at: model.deprecated_at,
    sunset_at: model.sunset_at,
  }));
  return { status: 200, body: { data } };
});

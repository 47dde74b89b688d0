/** The providers in the pages of the operator: how the last hour and day went, and which are paused. */
import { isEnabled, providerNames, routeName } from '../../catalog/providers.ts';
import type { AttemptFigures, ProviderSpan, ProvidersView, RouteView } from '../../contract/portal-views.ts';
import { isClientsFault, isProvidersFailure } from '../../contract/route-outcome.ts';
import type { RouteAttempt } from '../../creations/creation.ts';
import { readHealth, routesOf } from '../../render/health-of-routes.ts';
import { meanMillis } from '../../render/route-health.ts';
import { timeOfUuidV7 } from '../../values/ids.ts';
import { toUsd } from '../../values/money.ts';
import type { ReadHandle } from './open.ts';

/** The newest creations that are read, and the accounts of which they are. */
const mostCreations = 200;
const mostAccounts = 500;

const minuteMillis = 60_000;
const dayMillis = 24 * 60 * minuteMillis;
const hour = { parts: 12, partMillis: 5 * minuteMillis } as const;
const day = { parts: 24, partMillis: 60 * minuteMillis } as const;

/** GET /operator/providers: what is enabled or paused, and how the attempts of the last day ended. */
export const listProviders: ReadHandle<'listProviders'> = async (_request, { nowMillis }, services) => {
  const [{ enabled, pauses }, ids, catalog] = await Promise.all([
    services.providers.standing(),
    services.operated.accountIds(mostAccounts),
    services.catalogs.lately(nowMillis),
  ]);
  const since = nowMillis - dayMillis;
  const from = new Date(since).toISOString();
  const creations = await services.operated.newestCreations(ids, mostCreations, from);
  const attempts = creations.flatMap((creation) => creation.attempts);
  const oldest = creations.length === mostCreations ? timeOfUuidV7(creations.at(-1)?.id ?? '') : undefined;
  const routes = routesOf(catalog).filter(({ provider }) => isEnabled(provider, enabled));
  const known = await readHealth(routes, services.health, nowMillis, () => services.budget.signal);
  const view: ProvidersView = {
    since: new Date(Math.max(since, oldest ?? since)).toISOString(),
    creations: creations.length,
    data: providerNames(enabled).map((name) => {
      const own = attempts.filter(({ provider }) => provider === name);
      return {
        name,
        enabled: isEnabled(name, enabled),
        paused_since: pauses[name]?.since ?? null,
        pause_reason: pauses[name]?.reason ?? null,
        hour: spanOf(own, hour, nowMillis),
        day: spanOf(own, day, nowMillis),
        outcomes: outcomesOf(own),
        routes: known
          .filter(([{ provider }]) => provider === name)
          .map(([route, { openedAt, ...health }]): RouteView => {
            const mean = meanMillis(health, nowMillis);
            return {
              model: route.providerModel,
              quality: route.quality ?? null,
              open_since: openedAt === undefined ? null : new Date(openedAt).toISOString(),
              paused_since: pauses[routeName(route)]?.since ?? null,
              usual_seconds: mean === undefined ? null : mean / 1000,
            };
          }),
      };
    }),
  };
  return { status: 200, body: view };
};

function spanOf(
  attempts: readonly RouteAttempt[],
  { parts, partMillis }: typeof hour | typeof day,
  nowMillis: number,
): ProviderSpan {
  const begin = nowMillis - parts * partMillis;
  const placeOf = ({ startedAt }: RouteAttempt): number =>
    Math.min(parts - 1, Math.floor((Date.parse(startedAt) - begin) / partMillis));
  const within = attempts.filter((attempt) => placeOf(attempt) >= 0);
  return {
    ...figuresOf(within),
    declined: within.filter(({ outcome }) => outcome !== undefined && isClientsFault(outcome)).length,
    parts: Array.from({ length: parts }, (_, place) =>
      figuresOf(within.filter((attempt) => placeOf(attempt) === place)),
    ),
  };
}

function figuresOf(attempts: readonly RouteAttempt[]): AttemptFigures {
  const rendered = attempts.filter(({ outcome }) => outcome === 'rendered');
  const millis = middleOf(
    rendered.flatMap(({ startedAt, endedAt }) =>
      endedAt === undefined ? [] : [Date.parse(endedAt) - Date.parse(startedAt)],
    ),
  );
  const cost = middleOf(
    rendered.flatMap(({ billedMicros, providerCostMicros }) => billedMicros ?? providerCostMicros ?? []),
  );
  return {
    succeeded: rendered.length,
    failed: attempts.filter(({ outcome }) => outcome !== undefined && isProvidersFailure(outcome)).length,
    p50_seconds: millis === undefined ? null : millis / 1000,
    p50_cost: cost === undefined ? null : toUsd(cost),
  };
}

function middleOf<Value extends number>(values: readonly Value[]): Value | undefined {
  return values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) / 2)];
}

function outcomesOf(attempts: readonly RouteAttempt[]): Readonly<Record<string, number>> {
  const outcomes: Record<string, number> = {};
  for (const { outcome = 'unknown', endedAt } of attempts) {
    // An attempt without an end is still at work.
    if (outcome === 'rendered' || endedAt === undefined) continue;
    if (outcome !== 'unknown' && isClientsFault(outcome)) continue;
    outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
  }
  return outcomes;
}

import type { RouteAttempt } from '../../../core/creation.ts';
import { isProvidersFailure } from '../../../core/route-outcome.ts';
import { isBuiltIn, isEnabled, providers } from '../../../core/providers.ts';
import type { PageView, ProviderView } from '../../../core/portal/views.ts';
import type { OperateServices } from '../../services/portal-operate.ts';
import type { PortalHandle } from '../http/caller.ts';

/** The number of newest creations from which the state of the providers is computed, and of accounts. */
const mostCreations = 200;
const mostAccounts = 500;

/** GET /operator/providers: what is enabled, and how the attempts of the newest creations ended. */
export const listProviders: PortalHandle<'listProviders', OperateServices> = async (
  _request,
  _caller,
  services,
) => {
  const [enabled, { accounts }] = await Promise.all([
    services.providers.enabled(),
    services.operated.accounts(mostAccounts),
  ]);
  const ids = accounts.map(({ id }) => id);
  const creations = await services.operated.newestCreations(ids, mostCreations);
  const attempts = creations.flatMap((creation) => creation.attempts);
  const view: PageView<ProviderView> = {
    data: [...Object.keys(providers), ...enabled.filter((name) => !isBuiltIn(name))].map((name) => ({
      name,
      enabled: isEnabled(name, enabled),
      ...health(attempts.filter((attempt) => attempt.provider === name)),
    })),
    next_cursor: null,
  };
  return { status: 200, body: view };
};

function health(attempts: readonly RouteAttempt[]): Omit<ProviderView, 'name' | 'enabled'> {
  const rendered = attempts.filter(({ outcome }) => outcome === 'rendered');
  const outcomes: Record<string, number> = {};
  for (const { outcome = 'unknown', endedAt } of attempts) {
    // An attempt without an end is still at work.
    if (outcome === 'rendered' || endedAt === undefined) continue;
    outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
  }
  return {
    attempts: attempts.length,
    succeeded: rendered.length,
    failed: attempts.filter(({ outcome }) => outcome !== undefined && isProvidersFailure(outcome)).length,
    outcomes,
    p50_seconds: medianSeconds(rendered),
  };
}

function medianSeconds(attempts: readonly RouteAttempt[]): number | null {
  const millis = attempts
    .flatMap(({ startedAt, endedAt }) =>
      endedAt === undefined ? [] : [Date.parse(endedAt) - Date.parse(startedAt)],
    )
    .sort((a, b) => a - b);
  const middle = millis[Math.floor((millis.length - 1) / 2)];
  return middle === undefined ? null : middle / 1000;
}

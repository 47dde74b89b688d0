/** A provider or one of its routes is paused for all accounts. The command and the operator's pages share these rules. */
import type { ProviderStore } from '../catalog/provider-store.ts';
import { type ProviderPause, routeName } from '../catalog/providers.ts';
import type { RouteChoice } from '../creations/creation.ts';

/** What an operator names. Without a model: the whole provider. */
export interface Pausable {
  readonly provider: string;
  readonly model: string | undefined;
  readonly quality: string | undefined;
}

/** The name under which the pause of a route is stored. Undefined: the catalog has no such route. */
export function pausedRoute(
  { provider, model, quality }: Pausable,
  routes: readonly RouteChoice[],
): string | undefined {
  const found = routes.find(
    (route) => route.provider === provider && route.providerModel === model && route.quality === quality,
  );
  return found && routeName(found);
}

/** What a stored name stands for. */
export function pausableOf(name: string): Pausable {
  const [provider = '', model, quality = ''] = name.split('#');
  return { provider, model, quality: quality === '' ? undefined : quality };
}

/** A second pause replaces the reason, and the pause stays since the first one. */
export async function pause(
  name: string,
  reason: string | undefined,
  nowMillis: number,
  store: Pick<ProviderStore, 'pauses' | 'pause'>,
): Promise<ProviderPause> {
  const since = (await store.pauses())[name]?.since ?? new Date(nowMillis).toISOString();
  const paused = { since, ...(reason !== undefined && { reason }) };
  await store.pause(name, paused);
  return paused;
}

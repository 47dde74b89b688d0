/** The prices at which providers sell to us. Only the operator's figures need them; no request does. */
import type { ProviderCost, ProviderCosts } from './catalog-schema.ts';
import type { Route } from './catalog.ts';

export type { ProviderCosts } from './catalog-schema.ts';

/** The cost of a route's images. Undefined when catalog/provider-costs.json has no entry for the route. */
export function costOf(
  { costs }: ProviderCosts,
  route: Pick<Route, 'provider' | 'provider_model' | 'quality'>,
): ProviderCost | undefined {
  return costs.find(
    (cost) =>
      cost.provider === route.provider &&
      cost.provider_model === route.provider_model &&
      cost.quality === route.quality,
  );
}

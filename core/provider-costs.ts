/** What providers charge us, apart from what is sold: no request needs it, the operator's figures do. */
import type { ProviderCost, ProviderCosts } from './catalog-schema.ts';
import type { Route } from './catalog.ts';

export type { ProviderCosts } from './catalog-schema.ts';

/** The cost of a route's images; undefined when nobody has read it. */
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

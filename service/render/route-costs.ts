/** The prices of providers. The renderer notes them in each attempt for the operator's figures. */
import type { TokenPrices } from '../catalog/billed-cost.ts';
import type { ProviderCost, ProviderCosts } from '../catalog/catalog-schema.ts';
import type { CreationRecord, RouteChoice } from '../creations/creation.ts';
import { asMicros, fromUsd, type Micros } from '../values/money.ts';

/** A route as the catalog names it, or as an older release named it in a creation. */
type CostedRoute = Readonly<Record<'provider' | 'provider_model', string>> & {
  readonly quality: string | null;
};

/** The cost of a route's images. Undefined when service/catalog/provider-costs.json has no entry for the route. */
export function costOf({ costs }: ProviderCosts, route: CostedRoute): ProviderCost | undefined {
  return costs.find(
    (cost) =>
      cost.provider === route.provider &&
      cost.provider_model === route.provider_model &&
      cost.quality === route.quality,
  );
}

/** What the provider bills for the creation by this route. Undefined: provider-costs.json has no price. */
export function renderingCostMicros(
  costs: ProviderCosts,
  route: RouteChoice,
  { resolution, sources }: Pick<CreationRecord, 'resolution' | 'sources'>,
): Micros | undefined {
  const image = costOfChoice(costs, route)?.images.find((row) => row.resolution === resolution);
  if (!image) return undefined;
  return asMicros(fromUsd(image.usd) + sources.length * fromUsd(image.usd_per_input_image));
}

/** The prices of the route's tokens, for a vendor whose answer counts them. */
export function tokenPricesOf(costs: ProviderCosts, route: RouteChoice): TokenPrices | undefined {
  return costOfChoice(costs, route)?.tokens;
}

/** The price of a unit, for a vendor whose answer says how many units it bills. */
export function unitMicrosOf(costs: ProviderCosts, route: RouteChoice): Micros | undefined {
  const usd = costOfChoice(costs, route)?.usd_per_unit;
  return usd === undefined ? undefined : fromUsd(usd);
}

function costOfChoice(
  costs: ProviderCosts,
  { provider, providerModel, quality }: RouteChoice,
): ProviderCost | undefined {
  return costOf(costs, { provider, provider_model: providerModel, quality: quality ?? null });
}

/**
 * The margin rule: an image is sold for at least 140 % of what the dearest route of its model costs, rounded up
 * to a half cent. The same holds for a source image. Decision 10 gives the reasons.
 */
import type { Model, ProviderCosts } from '../../service/catalog/catalog-schema.ts';
import { costOf } from '../../service/render/route-costs.ts';
import { asMicros, fromUsd, type Micros } from '../../service/values/money.ts';

const percentOfCost = 140;
const stepMicros = 5_000;

/** The least price of something that costs us this much. A free thing may be free. */
export function leastPriceMicros(costMicros: Micros): Micros {
  return asMicros(Math.ceil((costMicros * percentOfCost) / (100 * stepMicros)) * stepMicros);
}

type PricedPart = 'usd' | 'usd_per_input_image';

/** The least price of an image, or of a source image, of the model. Undefined: no route has a known cost. */
export function leastPriceOf(
  model: Model,
  costs: ProviderCosts,
  resolution: Model['pricing'][number]['resolution'],
  part: PricedPart,
): Micros | undefined {
  const known = model.routes.flatMap((route) =>
    (costOf(costs, route)?.images ?? [])
      .filter((image) => image.resolution === resolution && route.resolutions.includes(resolution))
      .map((image) => fromUsd(image[part])),
  );
  return known.length === 0 ? undefined : leastPriceMicros(asMicros(Math.max(...known)));
}

/** A model for the playground: what the enabled providers of the account render, and what it costs. */
import type { ModelPolicy } from '../accounts/account.ts';
import type { Catalog, Model, Route } from '../catalog/catalog-schema.ts';
import {
  enabledRoutes,
  isSunset,
  isVisible,
  mostNegativePrompt,
  offered,
  offeredTiers,
  rendersTransparent,
  takesMask,
} from '../catalog/catalog.ts';
import type { ProviderSwitches } from '../catalog/providers.ts';
import type { ModelView } from '../contract/portal-views.ts';
import { aspectRatios, outputFormats, resolutions, type Tier } from '../contract/request-fields.ts';
import { fromUsd, toUsd } from '../values/money.ts';

export function modelViews(
  catalog: Catalog,
  policy: ModelPolicy,
  switches: ProviderSwitches,
  nowMillis: number,
): ModelView[] {
  const offeredModels = catalog.models.filter(
    (model) => isVisible(model, policy) && !isSunset(model, nowMillis),
  );
  return catalog.models.flatMap((model) => {
    const routes = enabledRoutes(model, policy, switches);
    if (!offeredModels.includes(model) || routes.length === 0) return [];
    const qualities = offeredTiers(model, offeredModels, policy, switches).map(({ tier }) => tier);
    return [modelView(model, routes, qualities)];
  });
}

/** No route of OpenAI takes a seed (adapters/providers/openai). */
const withoutSeed: readonly string[] = ['openai'];

function modelView(model: Model, routes: readonly Route[], qualities: readonly Tier[]): ModelView {
  const priced = model.pricing.map(({ resolution }) => resolution);
  const rendered = offered(resolutions, routes, (route) => route.resolutions).filter((one) =>
    priced.includes(one),
  );
  const prices = model.pricing.filter(({ resolution }) => rendered.includes(resolution));
  const mostImages = Math.max(0, ...routes.map((route) => route.max_image_urls));
  return {
    id: model.id,
    name: model.name,
    description: model.description,
    prices: Object.fromEntries(prices.map(({ resolution, usd }) => [resolution, toUsd(fromUsd(usd))])),
    price_per_source_image: toUsd(fromUsd(Math.max(0, ...prices.map((row) => row.usd_per_input_image)))),
    resolutions: rendered,
    aspect_ratios: offered(aspectRatios, routes, (route) => route.aspect_ratios),
    output_formats: offered(outputFormats, routes, (route) => route.output_formats),
    max_source_images: Math.min(model.max_image_urls, mostImages),
    takes_seed: routes.some(({ provider }) => !withoutSeed.includes(provider)),
    takes_negative_prompt: mostNegativePrompt(routes) > 0,
    takes_mask: takesMask(routes),
    takes_background: rendersTransparent(routes),
    takes_quality: qualities.length > 0,
    qualities,
    sunset_at: model.sunset_at,
  };
}

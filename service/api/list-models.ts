import { allowsModel } from '../accounts/caps.ts';
import type { Model, Route } from '../catalog/catalog-schema.ts';
import {
  chooseShape,
  enabledRoutes,
  isSunset,
  isVisible,
  mostNegativePrompt,
  offered,
  offeredTiers,
  rendersTransparent,
  takesMask,
} from '../catalog/catalog.ts';
import {
  aspectRatios,
  mostCount,
  outputFormats,
  type Resolution,
  resolutions,
} from '../contract/request-fields.ts';
import { fromUsd, toUsd } from '../values/money.ts';
import type { Caller } from './admit.ts';
import type { CatalogServices } from './open.ts';
import { checkQuery } from './request.ts';
import type { Handle } from './serve.ts';

/** GET /models: the catalog, with what the providers of this account can render. */
export const listModels: Handle<CatalogServices> = async (request, caller, { catalog }) => {
  checkQuery(request, 'listModels');
  const { account, apiKey } = caller;
  const visible = catalog.models.filter(
    (model) => isVisible(model, account.policy) && allowsModel(apiKey, model.id),
  );
  return Promise.resolve({
    status: 200,
    body: { data: visible.map((model) => modelView(model, caller, visible)) },
  });
};

/** @param visible the models that the caller may see: a hidden model must not show as a successor */
function modelView(model: Model, caller: Caller, visible: readonly Model[]): Record<string, unknown> {
  const { account, state, nowMillis } = caller;
  const isOver = isSunset(model, nowMillis);
  const routes = isOver ? [] : enabledRoutes(model, account.policy, state);
  const reason = isOver ? 'sunset' : 'no_provider_enabled';
  const mostImages = Math.min(
    model.max_image_urls,
    Math.max(0, ...routes.map((route) => route.max_image_urls)),
  );
  return {
    id: model.id,
    name: model.name,
    description: model.description,
    available: routes.length > 0,
    unavailable_reason: routes.length > 0 ? null : reason,
    supports_image_input: mostImages > 0,
    max_image_urls: mostImages,
    max_prompt_length: model.max_prompt_length,
    supports_negative_prompt: mostNegativePrompt(routes) > 0,
    max_count: mostCount,
    supports_background: rendersTransparent(routes),
    supports_mask: takesMask(routes),
    ...shapesOf(model, routes),
    ...tiersOf(model, routes.length > 0 ? visible : [], caller),
    deprecated_at: model.deprecated_at,
    sunset_at: model.sunset_at,
    successor: visible.find(({ id }) => id === model.successor)?.id ?? null,
  };
}

/** What the routes render, the defaults of a request that names nothing, and the prices. */
function shapesOf(model: Model, routes: readonly Route[]): Record<string, unknown> {
  const priced = model.pricing.map((row) => row.resolution);
  const rendered = offered(resolutions, routes, (route) => route.resolutions).filter((value) =>
    priced.includes(value),
  );
  const chosen = chooseShape(model, routes);
  return {
    resolutions: rendered,
    aspect_ratios: offered(aspectRatios, routes, (route) => route.aspect_ratios),
    output_formats: offered(outputFormats, routes, (route) => route.output_formats),
    default_resolution: chosen.resolution,
    default_aspect_ratio: chosen.aspectRatio,
    default_output_format: chosen.outputFormat,
    pricing: pricesOf(model, rendered),
  };
}

interface PriceRow {
  readonly resolution: Resolution;
  readonly usd: number;
  readonly usd_per_input_image: number;
}

function pricesOf({ pricing }: Model, rendered: readonly Resolution[]): PriceRow[] {
  return pricing
    .filter((row) => rendered.includes(row.resolution))
    .map((row) => ({
      resolution: row.resolution,
      usd: toUsd(fromUsd(row.usd)),
      usd_per_input_image: toUsd(fromUsd(row.usd_per_input_image)),
    }));
}

/** The qualities that a request for the model may name, with the prices of each. */
function tiersOf(model: Model, visible: readonly Model[], caller: Caller): Record<string, unknown> {
  const { account, state, nowMillis } = caller;
  const usable = visible.filter((one) => !isSunset(one, nowMillis));
  const offers = offeredTiers(model, usable, account.policy, state).map(({ tier, model: of, routes }) => {
    const rendered = offered(resolutions, routes, (route) => route.resolutions);
    return { quality: tier, prices: pricesOf(of, rendered) };
  });
  return {
    qualities: offers.map(({ quality }) => quality),
    quality_pricing: offers.flatMap(({ quality, prices }) => prices.map((row) => ({ quality, ...row }))),
  };
}

import { enabledRoutes, offered, type Model, type Route } from '../../core/catalog.ts';
import { aspectRatios, outputFormats, resolutions } from '../../core/image-formats.ts';
import { fromUsd, toUsd } from '../../core/money.ts';
import { catalogServices, type CatalogServices } from '../services.ts';
import { serve, type Handle } from './serve.ts';

/** GET /models: the catalog as this account's providers can render it. */
export const listModels: Handle<CatalogServices> = async (_request, { account, state }, { catalog }) => {
  const visible = catalog.models.filter((model) => !account.policy.hiddenModels.includes(model.id));
  return Promise.resolve({ status: 200, body: { data: visible.map((model) => modelView(model, enabledRoutes(model, account.policy, state.enabledProviders))) } });
};

function modelView(model: Model, routes: readonly Route[]): Record<string, unknown> {
  const priced = model.pricing.map((row) => row.resolution);
  const rendered = offered(resolutions, routes, (route) => route.resolutions).filter((value) => priced.includes(value));
  const mostImages = Math.max(0, ...routes.map((route) => route.max_image_urls));
  return {
    id: model.id,
    name: model.name,
    description: model.description,
    available: routes.length > 0,
    unavailable_reason: routes.length > 0 ? null : 'no_provider_enabled',
    supports_image_input: Math.min(model.max_image_urls, mostImages) > 0,
    max_image_urls: Math.min(model.max_image_urls, mostImages),
    max_prompt_length: model.max_prompt_length,
    resolutions: rendered,
    aspect_ratios: offered(aspectRatios, routes, (route) => route.aspect_ratios),
    output_formats: offered(outputFormats, routes, (route) => route.output_formats),
    default_resolution: model.default_resolution,
    default_aspect_ratio: model.default_aspect_ratio,
    default_output_format: model.default_output_format,
    pricing: model.pricing
      .filter((row) => rendered.includes(row.resolution))
      .map((row) => ({
        resolution: row.resolution,
        usd: toUsd(fromUsd(row.usd)),
        usd_per_input_image: toUsd(fromUsd(row.usd_per_input_image)),
      })),
    deprecated_at: model.deprecated_at,
    sunset_at: model.sunset_at,
  };
}

export const handler = serve('get', listModels, catalogServices());

/** The catalog: models, and the routes by which providers render them for an account. */
import type { ModelPolicy } from '../accounts/account.ts';
import {
  type AspectRatio,
  aspectRatios,
  type OutputFormat,
  outputFormats,
  type Resolution,
  resolutions,
  type Tier,
  tiers,
} from '../contract/request-fields.ts';
import { asMicros, fromUsd, type Micros } from '../values/money.ts';
import type { Catalog, Model, Route } from './catalog-schema.ts';
import { isEnabled, isPaused, isSandbox, type ProviderSwitches } from './providers.ts';

/** The three properties of an image that a request may leave to the defaults of its model. */
export interface ImageShape {
  readonly resolution: Resolution;
  readonly aspectRatio: AspectRatio;
  readonly outputFormat: OutputFormat;
}

/** The fields that only some routes honour. A request that names none of them is honoured by every route. */
export interface Demands {
  /** In code points. 0 and absent: the request has no negative prompt. */
  readonly negativePromptLength?: number;
  /** Undefined: the quality is left to the model. */
  readonly tier?: Tier | undefined;
  readonly isTransparent?: boolean;
  readonly hasMask?: boolean;
}

export interface RenderShape extends ImageShape, Demands {
  /** In code points. 0: the request has no prompt. */
  readonly promptLength: number;
  readonly imageCount: number;
}

/** The properties of a source image that a route limits. They are read from the bytes of the image. */
export interface SourceShape {
  readonly contentType: string;
  readonly width: number;
  readonly height: number;
  readonly bytes: number;
}

/** Undefined when the model does not exist or is hidden: a client must not see the difference. */
export function findModel(catalog: Catalog, policy: ModelPolicy, id: string): Model | undefined {
  return catalog.models.find((model) => model.id === id && isVisible(model, policy));
}

/** Whether the account may see the model. A model that only the sandbox renders goes with the sandbox. */
export function isVisible({ id, routes }: Pick<Model, 'id' | 'routes'>, policy: ModelPolicy): boolean {
  const isOfSandbox = routes.length > 0 && routes.every(({ provider }) => isSandbox(provider));
  return !policy.hiddenModels.includes(id) && !(policy.withoutSandbox && isOfSandbox);
}

/** Whether the day of the model's sunset has begun, at 00:00 UTC. From then on the model renders nothing. */
export function isSunset({ sunset_at: sunset }: Pick<Model, 'sunset_at'>, nowMillis: number): boolean {
  return sunset !== null && nowMillis >= Date.parse(sunset);
}

/** The model's routes, in order, that are not paused, and whose provider is enabled and allowed to the account. */
export function enabledRoutes(
  model: Model,
  policy: ModelPolicy,
  { enabledProviders, pausedProviders = [] }: ProviderSwitches,
): readonly Route[] {
  const isAllowed = (name: string): boolean =>
    (policy.providers === 'all' || policy.providers.includes(name)) &&
    !(policy.withoutSandbox && isSandbox(name));
  return model.routes.filter(
    ({ provider, provider_model: providerModel, quality }) =>
      isEnabled(provider, enabledProviders) &&
      !isPaused({ provider, providerModel, quality: quality ?? '' }, pausedProviders) &&
      isAllowed(provider),
  );
}

export function routesFor(routes: readonly Route[], shape: RenderShape): readonly Route[] {
  return routes.filter(
    (route) =>
      renders(route, shape) &&
      honours(route, shape) &&
      route.max_image_urls >= shape.imageCount &&
      route.max_prompt_length >= shape.promptLength &&
      (shape.promptLength > 0 || !route.needs_prompt),
  );
}

/** Whether the vendor of the route is sent all of it. What it cannot be sent would be sold and lost. */
export function honours(
  route: Route,
  { negativePromptLength = 0, tier, isTransparent, hasMask }: Demands,
): boolean {
  return (
    negativePromptLength <= mostNegativePrompt([route]) &&
    (!tier || rendersTier(route, tier)) &&
    (isTransparent !== true || rendersTransparent([route])) &&
    (hasMask !== true || takesMask([route]))
  );
}

/** Whether one of the routes takes a mask, and leaves alone what it protects. */
export function takesMask(routes: readonly Route[]): boolean {
  return routes.some((route) => route.supports_mask === true && route.max_image_urls > 0);
}

/** Whether one of the routes renders a transparent background. */
export function rendersTransparent(routes: readonly Route[]): boolean {
  return routes.some((route) => route.supports_background === true && mayBeTransparent(route).length > 0);
}

/** The formats of the route that have room for what is see-through. */
function mayBeTransparent({ output_formats: formats }: Route): OutputFormat[] {
  return formats.filter((format) => format !== 'jpeg');
}

/** The routes with the formats alone in which they render a transparent background. */
export function transparentRoutes(routes: readonly Route[]): Route[] {
  return routes.map((route) => ({ ...route, output_formats: mayBeTransparent(route) }));
}

function rendersTier({ quality, qualities = [] }: Route, tier: Tier): boolean {
  return quality === null ? qualities.includes(tier) : quality === tier;
}

/** Whether a route of the model renders the quality. @param routes those that are asked for */
export function hasTier({ routes }: { readonly routes: readonly Route[] }, tier: Tier): boolean {
  return routes.some((route) => rendersTier(route, tier));
}

/** A catalog, or the models of it that a caller may use. */
interface Models {
  readonly models: readonly Model[];
}

/** The model and those that its vendor sells in other qualities. Empty for a model of one quality. */
export function qualitiesOf(model: Model, { models }: Models): readonly Model[] {
  const family = model.quality_of ?? model.id;
  const siblings = models.filter((one) => (one.quality_of ?? one.id) === family);
  return siblings.length > 1 ? siblings : [];
}

/** The model that renders the quality: itself, or one of its other qualities. Undefined: none does. */
export function modelOfTier(model: Model, tier: Tier, catalog: Models): Model | undefined {
  return [model, ...qualitiesOf(model, catalog)].find((one) => hasTier(one, tier));
}

export interface OfferedTier {
  readonly tier: Tier;
  readonly model: Model;
  readonly routes: readonly Route[];
}

/** The qualities of a model that an account can have. @param usable the models that the account may use */
export function offeredTiers(
  model: Model,
  usable: readonly Model[],
  policy: ModelPolicy,
  switches: ProviderSwitches,
): readonly OfferedTier[] {
  return tiers.flatMap((tier) => {
    const of = modelOfTier(model, tier, { models: usable });
    const routes = of ? enabledRoutes(of, policy, switches).filter((route) => rendersTier(route, tier)) : [];
    return of && routes.length > 0 ? [{ tier, model: of, routes }] : [];
  });
}

/** The longest negative prompt that one of the routes takes. 0: none takes any. */
export function mostNegativePrompt(routes: readonly Route[]): number {
  return Math.max(0, ...routes.map(({ max_negative_prompt_length: most = 0 }) => most));
}

/** The routes whose provider takes this source image as it is. The service converts no images. */
export function routesTaking(routes: readonly Route[], source: SourceShape): readonly Route[] {
  const [short, long] = [Math.min(source.width, source.height), Math.max(source.width, source.height)];
  return routes.filter(
    ({ source_limits: limits }) =>
      limits !== null &&
      limits.content_types.some((type) => type === source.contentType) &&
      source.bytes <= limits.max_bytes &&
      short >= limits.min_side &&
      long <= limits.max_side &&
      source.width * source.height <= limits.max_pixels,
  );
}

/** The values of the list that at least one of the routes can do, in the order of the list. */
export function offered<Value>(
  all: readonly Value[],
  routes: readonly Route[],
  of: (route: Route) => readonly Value[],
): Value[] {
  return all.filter((value) => routes.some((route) => of(route).includes(value)));
}

/**
 * The shape of the image for a request that names some of its three properties, or none.
 * The result is the first combination with the named values that one route renders and that
 * has a price. The model's defaults come first. The resolution changes last, since it decides
 * the price. When no route renders any combination, the model's defaults fill the gaps.
 */
export function chooseShape(model: Model, routes: readonly Route[], named: NamedShape = {}): ImageShape {
  const { default_resolution: size, default_aspect_ratio: ratio, default_output_format: format } = model;
  const isPriced = (resolution: Resolution): boolean =>
    model.pricing.some((row) => row.resolution === resolution);
  for (const resolution of candidates(named.resolution, size, resolutions).filter(isPriced)) {
    for (const aspectRatio of candidates(named.aspectRatio, ratio, aspectRatios)) {
      for (const outputFormat of candidates(named.outputFormat, format, outputFormats)) {
        const shape = { resolution, aspectRatio, outputFormat };
        if (routes.some((route) => renders(route, shape))) return shape;
      }
    }
  }
  return {
    resolution: named.resolution ?? size,
    aspectRatio: named.aspectRatio ?? ratio,
    outputFormat: named.outputFormat ?? format,
  };
}

type NamedShape = { readonly [Name in keyof ImageShape]?: ImageShape[Name] | undefined };

function candidates<Value>(
  named: Value | undefined,
  preferred: Value,
  all: readonly Value[],
): readonly Value[] {
  return named === undefined ? [preferred, ...all.filter((value) => value !== preferred)] : [named];
}

function renders(route: Route, { resolution, aspectRatio, outputFormat }: ImageShape): boolean {
  return (
    route.resolutions.includes(resolution) &&
    route.aspect_ratios.includes(aspectRatio) &&
    route.output_formats.includes(outputFormat)
  );
}

/** The price, by model, resolution and number of source images. Undefined: it cannot be ordered. */
export function priceOf(model: Model, resolution: Resolution, imageCount: number): Micros | undefined {
  const price = model.pricing.find((row) => row.resolution === resolution);
  if (!price) return undefined;
  return asMicros(fromUsd(price.usd) + imageCount * fromUsd(price.usd_per_input_image));
}

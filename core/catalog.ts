/**
 * The catalog: models, and the routes by which providers render them for an account.
 */
import type { Catalog, Model, Route } from './catalog-schema.ts';
import type { AspectRatio, OutputFormat, Resolution } from './image-formats.ts';
import { isEnabled } from './providers.ts';

export type { Catalog, Model, Route } from './catalog-schema.ts';

/** What an account may use: 'all' providers or a list of them, and the models hidden from it. */
export interface ModelPolicy {
  readonly providers: 'all' | readonly string[];
  readonly hiddenModels: readonly string[];
}

/** What is asked of a route. */
export interface RenderShape {
  readonly resolution: Resolution;
  readonly aspectRatio: AspectRatio;
  readonly outputFormat: OutputFormat;
  /** Characters; 0: there is none. */
  readonly promptLength: number;
  readonly imageCount: number;
}

/** A source image as far as a route minds: its real type, pixels and bytes. */
export interface SourceShape {
  readonly contentType: string;
  readonly width: number;
  readonly height: number;
  readonly bytes: number;
}

/** The model, unless it does not exist or is hidden from the account: the same to the client. */
export function findModel(catalog: Catalog, policy: ModelPolicy, id: string): Model | undefined {
  if (policy.hiddenModels.includes(id)) return undefined;
  return catalog.models.find((model) => model.id === id);
}

/** The model's routes over providers that have what they need and are switched on for the account, in order. */
export function enabledRoutes(model: Model, policy: ModelPolicy, enabledProviders: readonly string[]): readonly Route[] {
  const isAllowed = (name: string): boolean => policy.providers === 'all' || policy.providers.includes(name);
  return model.routes.filter(({ provider }) => isEnabled(provider, enabledProviders) && isAllowed(provider));
}

/** Those of the routes that can render what is asked. */
export function routesFor(routes: readonly Route[], shape: RenderShape): readonly Route[] {
  return routes.filter(
    (route) =>
      route.resolutions.includes(shape.resolution) &&
      route.aspect_ratios.includes(shape.aspectRatio) &&
      route.output_formats.includes(shape.outputFormat) &&
      route.max_image_urls >= shape.imageCount &&
      route.max_prompt_length >= shape.promptLength &&
      (shape.promptLength > 0 || !route.needs_prompt),
  );
}

/** Those of the routes whose provider takes this source image as it is: nothing is converted. */
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

/** Everything of the list that at least one of the routes can do, in the list's order. */
export function offered<Value>(all: readonly Value[], routes: readonly Route[], of: (route: Route) => readonly Value[]): Value[] {
  return all.filter((value) => routes.some((route) => of(route).includes(value)));
}

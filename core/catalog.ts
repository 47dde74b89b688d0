/**
 * The catalog: models, and the routes by which providers render them for an account.
 */
import type { Catalog, Model, Route } from './catalog-schema.ts';
import type { AspectRatio, OutputFormat, Resolution } from './image-formats.ts';

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
  readonly imageCount: number;
}

/** The model, unless it does not exist or is hidden from the account: the same to the client. */
export function findModel(catalog: Catalog, policy: ModelPolicy, id: string): Model | undefined {
  if (policy.hiddenModels.includes(id)) return undefined;
  return catalog.models.find((model) => model.id === id);
}

/** The model's routes over providers that are switched on for the account, in order. */
export function enabledRoutes(model: Model, policy: ModelPolicy): readonly Route[] {
  return model.routes.filter((route) => policy.providers === 'all' || policy.providers.includes(route.provider));
}

/** Those of the routes that can render what is asked. */
export function routesFor(routes: readonly Route[], shape: RenderShape): readonly Route[] {
  return routes.filter(
    (route) =>
      route.resolutions.includes(shape.resolution) &&
      route.aspect_ratios.includes(shape.aspectRatio) &&
      route.output_formats.includes(shape.outputFormat) &&
      route.max_image_urls >= shape.imageCount,
  );
}

/** Everything of the list that at least one of the routes can do, in the list's order. */
export function offered<Value>(all: readonly Value[], routes: readonly Route[], of: (route: Route) => readonly Value[]): Value[] {
  return all.filter((value) => routes.some((route) => of(route).includes(value)));
}

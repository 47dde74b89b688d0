/**
 * The catalog: models, and the routes by which providers render them for an account.
 */
import type { Catalog, Model, Route } from './catalog-schema.ts';
import { aspectRatios, outputFormats, resolutions } from './image-formats.ts';
import type { AspectRatio, OutputFormat, Resolution } from './image-formats.ts';
import { isEnabled } from './providers.ts';

export type { Catalog, Model, Route } from './catalog-schema.ts';

/** What an account may use: 'all' providers or a list of them, and the models hidden from it. */
export interface ModelPolicy {
  readonly providers: 'all' | readonly string[];
  readonly hiddenModels: readonly string[];
}

/** The three that a request may leave to the defaults. */
export interface ImageShape {
  readonly resolution: Resolution;
  readonly aspectRatio: AspectRatio;
  readonly outputFormat: OutputFormat;
}

/** What is asked of a route. */
export interface RenderShape extends ImageShape {
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

/** Whether the day of the model's sunset has come (00:00 UTC, as the Sunset header says): it renders nothing any more. */
export function isSunset({ sunset_at: sunset }: Pick<Model, 'sunset_at'>, nowMillis: number): boolean {
  return sunset !== null && nowMillis >= Date.parse(sunset);
}

/** The model's routes over providers that have what they need and are switched on for the account, in order. */
export function enabledRoutes(
  model: Model,
  policy: ModelPolicy,
  enabledProviders: readonly string[],
): readonly Route[] {
  const isAllowed = (name: string): boolean => policy.providers === 'all' || policy.providers.includes(name);
  return model.routes.filter(({ provider }) => isEnabled(provider, enabledProviders) && isAllowed(provider));
}

/** Those of the routes that can render what is asked. */
export function routesFor(routes: readonly Route[], shape: RenderShape): readonly Route[] {
  return routes.filter(
    (route) =>
      renders(route, shape) &&
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
export function offered<Value>(
  all: readonly Value[],
  routes: readonly Route[],
  of: (route: Route) => readonly Value[],
): Value[] {
  return all.filter((value) => routes.some((route) => of(route).includes(value)));
}

/**
 * What is rendered for a request that names some of the three, or none: the first
 * combination with those named that one of the routes renders and that has a price. The
 * model's own defaults come first, the resolution changes last, since the price hangs on it.
 * Where no combination is rendered, the model's own defaults stand beside what was named.
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

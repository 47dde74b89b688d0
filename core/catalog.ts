/**
 * The catalog: models, the routes by which providers render them, and prices.
 * catalog/models.json is checked against this schema by a test and at synthesis,
 * not at a function's start.
 */
import * as z from 'zod';
import { fromUsd } from './money.ts';

export const resolutions = ['1K', '2K', '4K'] as const;
export const aspectRatios = ['1:1', '3:2', '2:3', '4:3', '3:4', '5:4', '4:5', '16:9', '9:16', '21:9'] as const;
export const outputFormats = ['png', 'jpeg', 'webp'] as const;

export type Resolution = (typeof resolutions)[number];
export type AspectRatio = (typeof aspectRatios)[number];
export type OutputFormat = (typeof outputFormats)[number];

export const mostPromptLength = 10_000;
export const mostImageUrls = 10;

const usd = z.number().nonnegative().refine((value) => isWholeMicros(value), 'at most 6 decimals');
const date = z.iso.date();

function isWholeMicros(value: number): boolean {
  try {
    fromUsd(value);
    return true;
  } catch {
    return false;
  }
}

/** One way to have a model rendered: a provider, its name for the model, and what it can do. */
const routeSchema = z.strictObject({
  provider: z.string().min(1),
  provider_model: z.string().min(1),
  resolutions: z.array(z.enum(resolutions)).min(1),
  aspect_ratios: z.array(z.enum(aspectRatios)).min(1),
  output_formats: z.array(z.enum(outputFormats)).min(1),
  max_image_urls: z.int().min(0).max(mostImageUrls),
  /** What the provider charges us an image, USD. */
  provider_cost: z.array(z.strictObject({ resolution: z.enum(resolutions), usd })),
  /** When the provider's price and abilities were last read. */
  checked_at: date,
});

const modelSchema = z.strictObject({
  id: z.string().regex(/^[a-z0-9][a-z0-9.-]{1,63}$/),
  name: z.string().min(1),
  description: z.string().min(1),
  max_prompt_length: z.int().min(1).max(mostPromptLength),
  max_image_urls: z.int().min(0).max(mostImageUrls),
  default_resolution: z.enum(resolutions),
  default_aspect_ratio: z.enum(aspectRatios),
  default_output_format: z.enum(outputFormats),
  /** Sale prices; a resolution without one cannot be ordered. */
  pricing: z.array(z.strictObject({ resolution: z.enum(resolutions), usd, usd_per_input_image: usd })).min(1),
  deprecated_at: date.nullable(),
  sunset_at: date.nullable(),
  /** In the order in which they are tried. */
  routes: z.array(routeSchema).min(1),
});

export const catalogSchema = z.strictObject({ models: z.array(modelSchema).min(1) });

export type Route = z.infer<typeof routeSchema>;
export type Model = z.infer<typeof modelSchema>;
export type Catalog = z.infer<typeof catalogSchema>;

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

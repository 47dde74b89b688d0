/**
 * What the files of catalog/ must look like. A file of its own: it is checked by a test and
 * at synthesis, not at a function's start, whose bundle does without it.
 */
import * as z from 'zod';
import {
  aspectRatios,
  mostImageUrls,
  mostPromptLength,
  outputFormats,
  resolutions,
} from './image-formats.ts';
import { fromUsd } from './money.ts';
import { providers, type ProviderName } from './providers.ts';

const usd = z
  .number()
  .nonnegative()
  .refine((value) => isWholeMicros(value), 'must have at most 6 decimals');
const date = z.iso.date();

function isWholeMicros(value: number): boolean {
  try {
    fromUsd(value);
    return true;
  } catch {
    return false;
  }
}

/** What a provider takes as a source image. */
const sourceLimitsSchema = z.strictObject({
  content_types: z.array(z.enum(['image/jpeg', 'image/png', 'image/webp'])).min(1),
  max_bytes: z.int().min(1),
  /** Pixels of the shorter and of the longer side. */
  min_side: z.int().min(1),
  max_side: z.int().min(1),
  max_pixels: z.int().min(1),
});

/** One way to have a model rendered: a provider, its name for the model, and what it can do. */
const routeSchema = z.strictObject({
  provider: z.enum(Object.keys(providers) as [ProviderName, ...ProviderName[]]),
  provider_model: z.string().min(1),
  /** Of vendors that render and charge one model in several qualities; else null. */
  quality: z.enum(['low', 'medium', 'high']).nullable(),
  resolutions: z.array(z.enum(resolutions)).min(1),
  aspect_ratios: z.array(z.enum(aspectRatios)).min(1),
  output_formats: z.array(z.enum(outputFormats)).min(1),
  max_prompt_length: z.int().min(1).max(mostPromptLength),
  /** False: source images alone are enough. */
  needs_prompt: z.boolean(),
  max_image_urls: z.int().min(0).max(mostImageUrls),
  /** Null where max_image_urls is 0. */
  source_limits: sourceLimitsSchema.nullable(),
});

/** decisions.md, Versions: whoever uses a model that goes away hears of it six months ahead. */
const noticeMonths = 6;

/** Whether a model's sunset, if it has one, was announced in time. Dates that are none are told by their own fields. */
function isAnnouncedInTime({
  deprecated_at: deprecated,
  sunset_at: sunset,
}: {
  deprecated_at: string | null;
  sunset_at: string | null;
}): boolean {
  if (sunset === null) return true;
  if (deprecated === null) return false;
  const from = new Date(deprecated);
  return (
    Date.parse(sunset) >=
    Date.UTC(from.getUTCFullYear(), from.getUTCMonth() + noticeMonths, from.getUTCDate())
  );
}

const announcedInTime = {
  path: ['sunset_at'],
  message: `needs a deprecated_at at least ${noticeMonths} months before it`,
};

const modelSchema = z
  .strictObject({
    id: z.string().regex(/^[a-z0-9][a-z0-9.-]{1,63}$/),
    name: z.string().min(1),
    description: z.string().min(1),
    max_prompt_length: z.int().min(1).max(mostPromptLength),
    max_image_urls: z.int().min(0).max(mostImageUrls),
    default_resolution: z.enum(resolutions),
    default_aspect_ratio: z.enum(aspectRatios),
    default_output_format: z.enum(outputFormats),
    /** Sale prices; a resolution without one cannot be ordered. */
    pricing: z
      .array(z.strictObject({ resolution: z.enum(resolutions), usd, usd_per_input_image: usd }))
      .min(1),
    deprecated_at: date.nullable(),
    sunset_at: date.nullable(),
    /** In the order in which they are tried. */
    routes: z.array(routeSchema).min(1),
  })
  .refine(isAnnouncedInTime, announcedInTime);

export const catalogSchema = z.strictObject({ models: z.array(modelSchema).min(1) });

/** What a provider charges us for a model, in a quality. */
const providerCostSchema = z.strictObject({
  provider: routeSchema.shape.provider,
  provider_model: routeSchema.shape.provider_model,
  quality: routeSchema.shape.quality,
  /** An image, and each source image handed to it. */
  images: z.array(z.strictObject({ resolution: z.enum(resolutions), usd, usd_per_input_image: usd })).min(1),
  /** Where price and abilities were read, and when last; null for the sandbox. */
  source: z.url().nullable(),
  checked_at: date,
});

/** catalog/provider-costs.json: apart from the models, since no request needs it. */
export const providerCostsSchema = z.strictObject({ costs: z.array(providerCostSchema).min(1) });

export type ProviderCost = z.infer<typeof providerCostSchema>;
export type ProviderCosts = z.infer<typeof providerCostsSchema>;
export type Route = z.infer<typeof routeSchema>;
export type Model = z.infer<typeof modelSchema>;
export type Catalog = z.infer<typeof catalogSchema>;

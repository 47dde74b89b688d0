/** The schemas of the files in catalog/, for a test and the synthesis. Functions do not load zod's build. */
import * as z from 'zod';
import {
  aspectRatios,
  mostImageUrls,
  mostPromptLength,
  plainFields,
  outputFormats,
  resolutions,
  tiers,
} from '../contract/request-fields.ts';
import { fromUsd } from '../values/money.ts';
import { providers } from './providers.ts';

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

const sourceLimitsSchema = z.strictObject({
  content_types: z.array(z.enum(['image/jpeg', 'image/png', 'image/webp'])).min(1),
  max_bytes: z.int().min(1),
  /** Pixels of the shorter and of the longer side. */
  min_side: z.int().min(1),
  max_side: z.int().min(1),
  max_pixels: z.int().min(1),
});

/** One way to render a model: a provider, the provider's name for the model, and the abilities of both. */
const routeSchema = z.strictObject({
  provider: z.enum(Object.keys(providers)),
  provider_model: z.string().min(1),
  /** Set where the vendor sells one model in several qualities; else null. */
  quality: z.enum(['low', 'medium', 'high', 'xhigh', 'max']).nullable(),
  /** The qualities that the vendor takes at the same price. Absent: it takes none, or quality fixes one. */
  qualities: z.array(z.enum(tiers)).min(1).optional(),
  resolutions: z.array(z.enum(resolutions)).min(1),
  aspect_ratios: z.array(z.enum(aspectRatios)).min(1),
  output_formats: z.array(z.enum(outputFormats)).min(1),
  max_prompt_length: z.int().min(1).max(mostPromptLength),
  /** In code points. Absent: the vendor takes no negative prompt. */
  max_negative_prompt_length: z.int().min(1).max(plainFields.negative_prompt.most).optional(),
  /** Whether the vendor renders a transparent background, as png or webp. Absent: it does not. */
  supports_background: z.literal(true).optional(),
  /** Whether the vendor takes a mask, and keeps what it protects within 2 of 255. Absent: it does not. */
  supports_mask: z.literal(true).optional(),
  /** False: a request with source images and without a prompt can be rendered. */
  needs_prompt: z.boolean(),
  max_image_urls: z.int().min(0).max(mostImageUrls),
  /** Null where max_image_urls is 0. */
  source_limits: sourceLimitsSchema.nullable(),
});

/** The API promises its clients six months of notice before a model goes away (docs/api.md). */
const noticeMonths = 6;

/** True when the model has no sunset, or one announced in time. Other checks find malformed dates. */
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
    /** Sale prices. A client cannot order a resolution that has no price. */
    pricing: z
      .array(z.strictObject({ resolution: z.enum(resolutions), usd, usd_per_input_image: usd }))
      .min(1),
    deprecated_at: date.nullable(),
    sunset_at: date.nullable(),
    /** The model that clients of a deprecated model should use instead. */
    successor: z.string().optional(),
    /** The model whose other quality this model is. The routes differ in their `quality`. */
    quality_of: z.string().optional(),
    routes: z.array(routeSchema).min(1),
  })
  .refine(isAnnouncedInTime, announcedInTime);

export const catalogSchema = z
  .strictObject({ models: z.array(modelSchema).min(1) })
  .refine(({ models }) => models.every((model) => isOneQualityOf(model, models)), {
    path: ['models'],
    message: 'quality_of must name a model, and each model of its qualities must have a quality of its own',
  })
  .refine(({ models }) => models.every((model) => hasKnownSuccessor(model, models)), {
    path: ['models'],
    message: 'successor must name a model that is not deprecated, and only a deprecated model has one',
  });

/** A client that moves to the successor must not have to move again. */
function hasKnownSuccessor(
  { successor, deprecated_at: deprecated }: z.infer<typeof modelSchema>,
  models: readonly z.infer<typeof modelSchema>[],
): boolean {
  if (successor === undefined) return true;
  return deprecated !== null && models.some((one) => one.id === successor && one.deprecated_at === null);
}

type Qualified = Pick<z.infer<typeof modelSchema>, 'id' | 'quality_of' | 'routes'>;

/** Whether the model and the one that it names are rendered in two qualities. */
function isOneQualityOf(model: Qualified, models: readonly Qualified[]): boolean {
  if (model.quality_of === undefined) return true;
  const main = models.find(({ id }) => id === model.quality_of);
  if (!main || main === model || main.quality_of !== undefined) return false;
  const qualities = [main, ...models.filter(({ quality_of: named }) => named === main.id)].map(
    ({ routes }) => [...new Set(routes.map(({ quality }) => quality))],
  );
  return (
    qualities.every((own) => own.length === 1 && own[0] !== null) &&
    new Set(qualities.flat()).size === qualities.length
  );
}

const providerCostSchema = z.strictObject({
  provider: routeSchema.shape.provider,
  provider_model: routeSchema.shape.provider_model,
  quality: routeSchema.shape.quality,
  /** USD for one rendered image, and for each source image that is sent along. */
  images: z.array(z.strictObject({ resolution: z.enum(resolutions), usd, usd_per_input_image: usd })).min(1),
  /** USD for a million tokens, of a vendor whose answer counts its tokens. Null: the vendor sells no text. */
  tokens: z
    .strictObject({
      text_in: z.number().nonnegative(),
      image_in: z.number().nonnegative(),
      image_out: z.number().positive(),
      text_out: z.number().nonnegative().nullable(),
    })
    .optional(),
  /** USD for one unit, of a vendor whose answer counts units: a second of Replicate, for example. */
  usd_per_unit: usd.optional(),
  /** The page with price and abilities; null for the sandbox. checked_at is the day of the last check. */
  source: z.url().nullable(),
  checked_at: date,
});

export function catalogSchemaOf(providerNames: readonly string[]): typeof catalogSchema {
  const route = routeSchema.safeExtend({ provider: z.enum(providerNames) });
  const model = modelSchema.safeExtend({ routes: z.array(route).min(1) });
  return catalogSchema.safeExtend({ models: z.array(model).min(1) });
}

export function ownCostsSchemaOf(providerNames: readonly string[]): z.ZodType<ProviderCost[]> {
  return z.array(providerCostSchema.safeExtend({ provider: z.enum(providerNames) }));
}

/** service/catalog/provider-costs.json. Costs are apart from the models, since no request needs them. */
export const providerCostsSchema = z.strictObject({ costs: z.array(providerCostSchema).min(1) });

export type ProviderCost = z.infer<typeof providerCostSchema>;
export type ProviderCosts = z.infer<typeof providerCostsSchema>;
export type Route = z.infer<typeof routeSchema>;
export type Model = z.infer<typeof modelSchema>;
export type Catalog = z.infer<typeof catalogSchema>;

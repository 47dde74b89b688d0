/** The catalog as an account sees it (service/api/list-models.ts). */
import * as z from 'zod';
import { tiers } from '../../contract/request-fields.ts';
import { aspectRatio, outputFormat, resolution, usd } from './values.ts';

const modelPrice = z
  .object({
    resolution,
    usd: usd('The price of one image, in USD.'),
    usd_per_input_image: usd('Added for each source image, in USD.'),
  })
  .meta({ id: 'ModelPrice', description: 'The price of a model at one resolution.' });

const quality = z.enum(tiers).meta({ id: 'Quality', description: 'A quality that the model renders.' });

const qualityPrice = z
  .object({ quality, ...modelPrice.shape })
  .meta({ id: 'QualityPrice', description: 'The price of a model at one quality and resolution.' });

const model = z
  .object({
    id: z.string(),
    name: z.string(),
    description: z.string(),
    available: z.boolean().meta({ description: 'Whether this account can use the model now.' }),
    unavailable_reason: z.enum(['no_provider_enabled', 'sunset']).nullable().meta({
      description:
        '`no_provider_enabled`: no provider of the model is enabled for the account; a submission or a quote is answered 503 with this reason. `sunset`: the day of `sunset_at` has come; the answer is 404 `ERR_MODEL_NOT_FOUND`. null when the model is available.',
    }),
    supports_image_input: z.boolean(),
    max_image_urls: z.int().min(0),
    max_prompt_length: z.int().min(1).meta({ description: 'In Unicode code points.' }),
    supports_negative_prompt: z.boolean().meta({ description: 'Whether it takes `negative_prompt`.' }),
    max_count: z.int().min(1).meta({ description: 'The most that `count` may be.' }),
    supports_background: z.boolean().meta({
      description: 'Whether it renders `background` transparent. Every model renders opaque ones.',
    }),
    supports_mask: z.boolean().meta({ description: 'Whether it takes `mask_url`.' }),
    resolutions: z.array(resolution),
    aspect_ratios: z.array(aspectRatio),
    output_formats: z.array(outputFormat),
    default_resolution: resolution,
    default_aspect_ratio: aspectRatio,
    default_output_format: outputFormat,
    pricing: z.array(modelPrice),
    qualities: z.array(quality).meta({
      description:
        'What `quality` may be, beside auto. Empty for a model of one quality that it does not tell.',
    }),
    quality_pricing: z.array(qualityPrice),
    deprecated_at: z.iso.date().nullable().meta({ description: 'Since when the model is deprecated.' }),
    sunset_at: z.iso.date().nullable().meta({
      description: 'From this day on, 00:00 UTC, the model is no longer available.',
    }),
    successor: z.string().nullable().meta({
      description:
        'The model to use instead of a deprecated one. null when there is none, or when this key may not use it.',
    }),
  })
  .meta({
    id: 'Model',
    description:
      'A model, with what the providers of this account can render. A request that names none of resolution, aspect ratio and format is rendered with exactly the three defaults. Some combinations of a resolution and an aspect ratio have no provider: POST /images/quote tells.',
  });

export const modelList = z
  .object({ data: z.array(model) })
  .meta({ id: 'ModelList', description: 'The models that this key may use. A hidden model is absent.' });

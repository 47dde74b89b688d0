/** The catalog as an account sees it (functions/operations/list-models.ts). */
import * as z from 'zod';
import { aspectRatio, outputFormat, resolution, usd } from './values.ts';

const modelPrice = z
  .object({
    resolution,
    usd: usd('The price of one image, in USD.'),
    usd_per_input_image: usd('Added for each source image, in USD.'),
  })
  .meta({ id: 'ModelPrice', description: 'The price of a model at one resolution.' });

const model = z
  .object({
    id: z.string(),
    name: z.string(),
    description: z.string(),
    available: z.boolean().meta({ description: 'Whether this account can use the model now.' }),
    unavailable_reason: z
      .enum(['no_provider_enabled', 'sunset'])
      .nullable()
      .meta({ description: 'null when the model is available.' }),
    supports_image_input: z.boolean(),
    max_image_urls: z.int().min(0),
    max_prompt_length: z.int().min(1).meta({ description: 'In Unicode code points.' }),
    resolutions: z.array(resolution),
    aspect_ratios: z.array(aspectRatio),
    output_formats: z.array(outputFormat),
    default_resolution: resolution,
    default_aspect_ratio: aspectRatio,
    default_output_format: outputFormat,
    pricing: z.array(modelPrice),
    deprecated_at: z.iso.date().nullable().meta({ description: 'Since when the model is deprecated.' }),
    sunset_at: z.iso.date().nullable().meta({
      description: 'From this day on, 00:00 UTC, the model is no longer available.',
    }),
  })
  .meta({ id: 'Model', description: 'A model, with what the providers of this account can render.' });

export const modelList = z
  .object({ data: z.array(model) })
  .meta({ id: 'ModelList', description: 'The models that this key may use. A hidden model is absent.' });

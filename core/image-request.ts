/**
 * The body of POST /images/generate: its schema, and the second step that needs the
 * model. All problems of a body are told at once, each with its field.
 */
import { createHash } from 'node:crypto';
import * as z from 'zod';
import { aspectRatios, mostImageUrls, mostPromptLength, outputFormats, resolutions } from './catalog.ts';
import type { AspectRatio, Model, OutputFormat, Resolution } from './catalog.ts';
import { maxUrlLength } from './limits.ts';
import type { FieldError } from './problem.ts';

const address = z.string().max(maxUrlLength);

export const imageRequestSchema = z.strictObject({
  model: z.string().min(1),
  prompt: z.string().trim().max(mostPromptLength).optional(),
  resolution: z.enum(resolutions).optional(),
  aspect_ratio: z.enum(aspectRatios).optional(),
  image_urls: z.array(address).max(mostImageUrls).optional(),
  webhook_url: address.optional(),
  output_format: z.enum(outputFormats).optional(),
  seed: z.int().min(0).max(2 ** 31 - 1).optional(),
  metadata: z
    .record(z.string().max(40), z.string().max(500))
    .refine((entries) => Object.keys(entries).length <= 16, { error: 'at most 16 keys', params: { code: 'too_many' } })
    .optional(),
});

export type ImageRequestBody = z.infer<typeof imageRequestSchema>;

/** A request with its model's defaults filled in. */
export interface ImageRequest {
  readonly model: Model;
  readonly prompt: string | null;
  readonly resolution: Resolution;
  readonly aspectRatio: AspectRatio;
  readonly outputFormat: OutputFormat;
  readonly imageUrls: readonly string[];
  readonly webhookUrl: string | undefined;
  readonly seed: number | null;
  readonly metadata: Readonly<Record<string, string>>;
}

/** The request with the model's defaults, or everything that this model cannot take. */
export function forModel(body: ImageRequestBody, model: Model): ImageRequest | readonly FieldError[] {
  const imageUrls = body.image_urls ?? [];
  const prompt = body.prompt === undefined || body.prompt === '' ? null : body.prompt;
  const errors: FieldError[] = [];
  if (prompt !== null && prompt.length > model.max_prompt_length) {
    errors.push({ field: 'prompt', code: 'too_long', message: `at most ${model.max_prompt_length} characters for ${model.id}` });
  }
  if (imageUrls.length > model.max_image_urls) {
    const takes = model.max_image_urls === 0 ? 'takes no source images' : `takes at most ${model.max_image_urls}`;
    errors.push({ field: 'image_urls', code: 'too_many', message: `${model.id} ${takes}` });
  }
  if (errors.length > 0) return errors;
  return {
    model,
    prompt,
    resolution: body.resolution ?? model.default_resolution,
    aspectRatio: body.aspect_ratio ?? model.default_aspect_ratio,
    outputFormat: body.output_format ?? model.default_output_format,
    imageUrls,
    webhookUrl: body.webhook_url,
    seed: body.seed ?? null,
    metadata: body.metadata ?? {},
  };
}

/** A prompt is needed unless a source image says what is wanted. */
export function missingPrompt(body: ImageRequestBody): FieldError | undefined {
  if ((body.prompt ?? '') !== '' || (body.image_urls ?? []).length > 0) return undefined;
  return { field: 'prompt', code: 'required', message: 'required unless image_urls has an item' };
}

/** SHA-256 of the validated body, its keys in order: what makes two requests the same under one Idempotency-Key. */
export function requestHash(body: ImageRequestBody): string {
  return createHash('sha256').update(JSON.stringify(body, sortedKeys)).digest('hex');
}

function sortedKeys(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

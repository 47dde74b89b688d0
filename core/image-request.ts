/**
 * The body of POST /images/generate: its schema, and the second step that needs the
 * model. All problems of a body are told at once, each with its field.
 */
import { createHash } from 'node:crypto';
// The small build of zod: the messages are ours, and the bundle is 60 KB lighter.
import * as z from 'zod/mini';
import { aspectRatios, mostImageUrls, mostPromptLength, outputFormats, resolutions } from './image-formats.ts';
import { offered, type Model } from './catalog.ts';
import type { AspectRatio, OutputFormat, Resolution } from './image-formats.ts';
import { maxUrlLength } from './limits.ts';
import type { FieldError } from './problem.ts';

const mostMetadataKeys = 16;
const address = z.string().check(z.maxLength(maxUrlLength));
const isPromptLength = (prompt: string): boolean => characters(prompt) <= mostPromptLength;
const tooLong = { error: `at most ${mostPromptLength} characters`, params: { code: 'too_long' } };
const hasFewKeys = (entries: object): boolean => Object.keys(entries).length <= mostMetadataKeys;

export const imageRequestSchema = z.strictObject({
  model: z.string().check(z.minLength(1)),
  prompt: z.optional(z.string().check(z.trim(), z.refine(isPromptLength, tooLong))),
  resolution: z.optional(z.enum(resolutions)),
  aspect_ratio: z.optional(z.enum(aspectRatios)),
  image_urls: z.optional(z.array(address).check(z.maxLength(mostImageUrls))),
  webhook_url: z.optional(address),
  output_format: z.optional(z.enum(outputFormats)),
  seed: z.optional(z.int().check(z.gte(0), z.lte(2 ** 31 - 1))),
  metadata: z.optional(
    z
      .record(z.string().check(z.maxLength(40)), z.string().check(z.maxLength(500)))
      .check(z.refine(hasFewKeys, { error: `at most ${mostMetadataKeys} keys`, params: { code: 'too_many' } })),
  ),
});

export type ImageRequestBody = z.infer<typeof imageRequestSchema>;

/** Characters as a person counts them, near enough: a picture of a face is one, not two. */
export function characters(text: string): number {
  return Array.from(text).length;
}

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
  if (prompt !== null && characters(prompt) > model.max_prompt_length) {
    errors.push({ field: 'prompt', code: 'too_long', message: `at most ${model.max_prompt_length} characters for ${model.id}` });
  }
  if (imageUrls.length > model.max_image_urls) {
    const takes = model.max_image_urls === 0 ? 'takes no source images' : `takes at most ${model.max_image_urls}`;
    errors.push({ field: 'image_urls', code: 'too_many', message: `${model.id} ${takes}` });
  }
  const formats = offered(outputFormats, model.routes, (route) => route.output_formats);
  if (body.output_format !== undefined && !formats.includes(body.output_format)) {
    const message = `must be one of ${formats.map((format) => JSON.stringify(format)).join(', ')} for ${model.id}`;
    errors.push({ field: 'output_format', code: 'invalid_value', message });
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
export function missingPrompt(body: { readonly prompt?: unknown; readonly image_urls?: unknown }): FieldError | undefined {
  const { prompt = '', image_urls: images = [] } = body;
  // A prompt or list of the wrong type is there, and told as such by the schema.
  if (prompt !== '' || !Array.isArray(images) || images.length > 0) return undefined;
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

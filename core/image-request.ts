/**
 * The body of POST /images/generate: its schema, and the second step that needs the
 * model. All problems of a body are told at once, each with its field.
 */
import { createHash } from 'node:crypto';
// The small build of zod: the messages are ours, and the bundle is 60 KB lighter.
import * as z from 'zod/mini';
import { chooseShape, offered, type Model, type Route } from './catalog.ts';
import {
  aspectRatios,
  mostImageUrls,
  mostPromptLength,
  outputFormats,
  resolutions,
} from './image-formats.ts';
import type { AspectRatio, OutputFormat, Resolution } from './image-formats.ts';
import { maxUrlLength } from './limits.ts';
import { loneSurrogate, metadataProblems, type Metadata } from './metadata.ts';
import type { FieldError } from './problem.ts';

const mostSeed = 2 ** 31 - 1;
const isPromptLength = (prompt: string): boolean => characters(prompt) <= mostPromptLength;
const tooLong = { error: `at most ${mostPromptLength} characters`, params: { code: 'too_long' } };
const { code: surrogateCode, message: surrogateMessage } = loneSurrogate;
const wellFormed = z.refine<string>((text) => text.isWellFormed(), {
  error: surrogateMessage,
  params: { code: surrogateCode },
});
const address = z.string().check(z.maxLength(maxUrlLength), wellFormed);

type Findings = readonly { readonly name?: string; readonly code: string; readonly message: string }[];

/** A check of our own as zod's: each finding becomes an issue, below its name when it has one. */
function checkedBy<Value>(find: (value: unknown) => Findings): z.ZodMiniType<Value, Value> {
  return z.custom<Value>().check(({ value, issues }) => {
    for (const { name, code, message } of find(value)) {
      issues.push({
        code: 'custom',
        input: value,
        path: name === undefined ? [] : [name],
        message,
        params: { code },
      });
    }
  });
}

/** At most one finding: of a number that is wrong in two ways the client hears the one to correct first. */
function seedProblems(value: unknown): Findings {
  if (typeof value !== 'number') return [{ code: 'invalid_type', message: 'must be a number' }];
  if (value > mostSeed) return [{ code: 'too_big', message: `at most ${mostSeed}` }];
  if (value < 0) return [{ code: 'too_small', message: 'at least 0' }];
  return Number.isInteger(value) ? [] : [{ code: 'invalid_type', message: 'must be a whole number' }];
}

/** Null in an optional field means: left out. */
export const imageRequestSchema = z.pipe(
  z.strictObject({
    model: z.string().check(z.minLength(1), wellFormed),
    prompt: z.nullish(z.string().check(z.trim(), z.refine(isPromptLength, tooLong), wellFormed)),
    resolution: z.nullish(z.enum(resolutions)),
    aspect_ratio: z.nullish(z.enum(aspectRatios)),
    image_urls: z.nullish(z.array(address).check(z.maxLength(mostImageUrls))),
    webhook_url: z.nullish(address),
    output_format: z.nullish(z.enum(outputFormats)),
    seed: z.nullish(checkedBy<number>(seedProblems)),
    metadata: z.nullish(checkedBy<Metadata>(metadataProblems)),
  }),
  z.transform(withoutNulls),
);

export type ImageRequestBody = z.infer<typeof imageRequestSchema>;

type WithoutNulls<Body> = { [Name in keyof Body]: Exclude<Body[Name], null> };

function withoutNulls<Body extends object>(body: Body): WithoutNulls<Body> {
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null)) as WithoutNulls<Body>;
}

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
  readonly metadata: Metadata;
}

/**
 * The request with the defaults of the model for what it leaves open, or everything that
 * this model cannot take.
 * @param routes the model's routes that the account may use: defaults are what one of them renders
 */
export function forModel(
  body: ImageRequestBody,
  model: Model,
  routes: readonly Route[],
): ImageRequest | readonly FieldError[] {
  const imageUrls = body.image_urls ?? [];
  const prompt = body.prompt === undefined || body.prompt === '' ? null : body.prompt;
  const errors: FieldError[] = [];
  if (prompt !== null && characters(prompt) > model.max_prompt_length) {
    errors.push({
      field: 'prompt',
      code: 'too_long',
      message: `at most ${model.max_prompt_length} characters for ${model.id}`,
    });
  }
  if (imageUrls.length > model.max_image_urls) {
    const takes =
      model.max_image_urls === 0 ? 'takes no source images' : `takes at most ${model.max_image_urls}`;
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
    ...chooseShape(model, routes, {
      resolution: body.resolution,
      aspectRatio: body.aspect_ratio,
      outputFormat: body.output_format,
    }),
    imageUrls,
    webhookUrl: body.webhook_url,
    seed: body.seed ?? null,
    metadata: body.metadata ?? {},
  };
}

/** A prompt is needed unless a source image says what is wanted. */
export function missingPrompt(body: {
  readonly prompt?: unknown;
  readonly image_urls?: unknown;
}): FieldError | undefined {
  const { prompt, image_urls: images } = { prompt: body.prompt ?? '', image_urls: body.image_urls ?? [] };
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

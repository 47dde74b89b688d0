/** The body of POST /images/generate. The client gets all problems at once, each with its field. */
import { createHash } from 'node:crypto';
import * as z from 'zod/mini';
import { userProblems } from '../accounts/end-user.ts';
import type { Model, Route } from '../catalog/catalog-schema.ts';
import { chooseShape, honours, offered, transparentRoutes } from '../catalog/catalog.ts';
import { maxUrlLength } from '../contract/limits.ts';
import {
  type AspectRatio,
  aspectRatios,
  mostCount,
  mostImageUrls,
  mostPromptLength,
  type OutputFormat,
  outputFormats,
  type PlainBody,
  type PlainField,
  plainFromBody,
  type PlainMembers,
  type PlainName,
  plainRows,
  type Resolution,
  resolutions,
} from '../contract/request-fields.ts';
import { hasAtMostSixDecimals } from '../values/money.ts';
import type { FieldError } from '../values/problem.ts';
import { type Able, demandsOf, unhonoured } from './unhonoured.ts';
import { characters, loneSurrogate } from '../values/text.ts';

/** The metadata, stored unchanged. A name may be __proto__, so this code reads own properties only. */
export type Metadata = Readonly<Record<string, string>>;

const mostKeys = 16;
/** In code points. */
const mostKeyLength = 40;
/** In code points. */
const mostValueLength = 500;

/** A problem of the metadata. `name` is the key that has the problem; absent for a problem of the whole. */
export interface MetadataProblem extends Omit<FieldError, 'field'> {
  readonly name?: string;
}

/** The problems of a value sent as metadata: at most one for each key, and one for their number. */
export function metadataProblems(value: unknown): readonly MetadataProblem[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return [{ code: 'invalid_type', message: 'must be an object' }];
  }
  const entries = Object.entries(value);
  const tooMany: MetadataProblem = { code: 'too_many', message: `at most ${mostKeys} keys` };
  return [...(entries.length > mostKeys ? [tooMany] : []), ...entries.flatMap(entryProblem)];
}

function entryProblem([name, value]: [string, unknown]): MetadataProblem[] {
  if (name === '') return [{ code: 'too_short', message: 'a key must not be empty' }];
  if (!name.isWellFormed())
    return [{ name, ...loneSurrogate, message: 'a key must not contain half of a surrogate pair' }];
  if (characters(name) > mostKeyLength)
    return [{ name, code: 'too_long', message: `at most ${mostKeyLength} characters` }];
  if (typeof value !== 'string') return [{ name, code: 'invalid_type', message: 'must be a string' }];
  if (characters(value) > mostValueLength)
    return [{ name, code: 'too_long', message: `at most ${mostValueLength} characters` }];
  return value.isWellFormed() ? [] : [{ name, ...loneSurrogate }];
}

/** zod's own maxLength counts UTF-16 units; this check counts code points. */
function atMost(most: number): ReturnType<typeof z.refine<string>> {
  return z.refine((text) => characters(text) <= most, {
    error: `at most ${most} characters`,
    params: { code: 'too_long' },
  });
}

const { code: surrogateCode, message: surrogateMessage } = loneSurrogate;
const wellFormed = z.refine<string>((text) => text.isWellFormed(), {
  error: surrogateMessage,
  params: { code: surrogateCode },
});
const address = z.string().check(atMost(maxUrlLength), wellFormed);

export type Findings = readonly MetadataProblem[];

/** Makes a schema of a check of our own. Each finding is an issue, below its name if it has one. */
export function checkedBy<Value>(find: (value: unknown) => Findings): z.ZodMiniType<Value, Value> {
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

/** Has at most one finding. Of a number that is wrong in two ways the client gets the range first. */
export function integerProblems(value: unknown, least: number, most: number): Findings {
  if (typeof value !== 'number') return [{ code: 'invalid_type', message: 'must be a number' }];
  if (value > most) return [{ code: 'too_big', message: `at most ${most}` }];
  if (value < least) return [{ code: 'too_small', message: `at least ${least}` }];
  return Number.isInteger(value) ? [] : [{ code: 'invalid_type', message: 'must be a whole number' }];
}

/** What the parser accepts of a plain field. */
export function plainSchema(field: PlainField): z.ZodMiniType {
  if (field.kind === 'integer') return checkedBy((value) => integerProblems(value, field.least, field.most));
  if (field.kind === 'choice') return z.enum(field.values);
  return z.string().check(z.minLength(field.least), atMost(field.most), wellFormed);
}

type PlainSchemas = {
  [Name in PlainName]: z.ZodMiniOptional<
    z.ZodMiniNullable<z.ZodMiniType<NonNullable<PlainBody[Name]>, NonNullable<PlainBody[Name]>>>
  >;
};
const plainSchemas = Object.fromEntries(
  plainRows.map(([name, field]) => [name, z.nullish(plainSchema(field))]),
) as unknown as PlainSchemas;

/** Has at most one finding. JSON.parse reads a number that is too large for a double as Infinity. */
export function usdProblems(value: unknown): Findings {
  if (typeof value !== 'number' || !Number.isFinite(value))
    return [{ code: 'invalid_type', message: 'must be a number' }];
  if (value < 0) return [{ code: 'too_small', message: 'at least 0' }];
  return hasAtMostSixDecimals(value) ? [] : [{ code: 'invalid_value', message: 'at most 6 decimals' }];
}

/** An optional field that is null counts as left out. */
export const imageRequestSchema = z.pipe(
  z.strictObject({
    model: z.string().check(z.minLength(1), wellFormed),
    prompt: z.nullish(z.string().check(z.trim(), atMost(mostPromptLength), wellFormed)),
    resolution: z.nullish(z.enum(resolutions)),
    aspect_ratio: z.nullish(z.enum(aspectRatios)),
    image_urls: z.nullish(z.array(address).check(z.maxLength(mostImageUrls))),
    mask_url: z.nullish(address),
    webhook_url: z.nullish(address),
    output_format: z.nullish(z.enum(outputFormats)),
    ...plainSchemas,
    metadata: z.nullish(checkedBy<Metadata>(metadataProblems)),
    user: z.nullish(checkedBy<string>(userProblems)),
    max_cost: z.nullish(checkedBy<number>(usdProblems)),
    count: z.nullish(checkedBy<number>((value) => integerProblems(value, 1, mostCount))),
  }),
  z.transform(withoutNulls),
);

export type ImageRequestBody = z.infer<typeof imageRequestSchema>;

type WithoutNulls<Body> = { [Name in keyof Body]: Exclude<Body[Name], null> };

function withoutNulls<Body extends object>(body: Body): WithoutNulls<Body> {
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null)) as WithoutNulls<Body>;
}

export interface ImageRequest extends PlainMembers {
  readonly model: Model;
  readonly prompt: string | null;
  readonly resolution: Resolution;
  readonly aspectRatio: AspectRatio;
  /** False: the ratio is the default of the model, and a mask may ask for another. */
  readonly isRatioNamed: boolean;
  readonly outputFormat: OutputFormat;
  readonly imageUrls: readonly string[];
  readonly maskUrl: string | undefined;
  readonly webhookUrl: string | undefined;
  readonly seed: number | null;
  readonly metadata: Metadata;
  readonly user: string | undefined;
  readonly maxCostUsd: number | undefined;
  /** How many creations. */
  readonly count: number;
}

/**
 * The request with the defaults of the model, or every problem.
 * @param routes those of the account
 * @param usable the models that the account can use, to name those that honour a field
 */
export function forModel(
  body: ImageRequestBody,
  model: Model,
  routes: readonly Route[],
  usable: () => readonly Able[] = () => [],
): ImageRequest | readonly FieldError[] {
  const {
    model: _id,
    prompt: askedPrompt,
    resolution,
    aspect_ratio: aspectRatio,
    output_format: outputFormat,
    image_urls: imageUrls = [],
    mask_url: maskUrl,
    webhook_url: webhookUrl,
    metadata = {},
    user,
    max_cost: maxCostUsd,
    count = 1,
    ...plain
  } = body;
  // A field of the schema that nothing reads would be accepted and lost: the compiler refuses it here.
  plain satisfies { [Name in keyof typeof plain]: Name extends PlainName ? unknown : never };
  const prompt = askedPrompt === undefined || askedPrompt === '' ? null : askedPrompt;
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
  if (outputFormat !== undefined && !formats.includes(outputFormat)) {
    const message = `must be one of ${formats.map((format) => JSON.stringify(format)).join(', ')} for ${model.id}`;
    errors.push({ field: 'output_format', code: 'invalid_value', message });
  }
  errors.push(...unhonoured(body, model, usable));
  if (errors.length > 0) return errors;
  const demands = demandsOf(body);
  const honouring = routes.filter((route) => honours(route, demands));
  const able = honouring.length > 0 ? honouring : routes;
  return {
    model,
    prompt,
    // The defaults are those of a route that honours the request, if there is one.
    ...chooseShape(model, demands.isTransparent ? transparentRoutes(able) : able, {
      resolution,
      aspectRatio,
      outputFormat,
    }),
    isRatioNamed: aspectRatio !== undefined,
    imageUrls,
    maskUrl,
    webhookUrl,
    seed: null,
    ...plainFromBody(plain),
    metadata,
    user,
    maxCostUsd,
    count,
  };
}

export function missingPrompt(body: {
  readonly prompt?: unknown;
  readonly image_urls?: unknown;
}): FieldError | undefined {
  const { prompt, image_urls: images } = { prompt: body.prompt ?? '', image_urls: body.image_urls ?? [] };
  // The schema reports a prompt or a list of a wrong type. Here each counts as present.
  if (prompt !== '' || !Array.isArray(images) || images.length > 0) return undefined;
  return { field: 'prompt', code: 'required', message: 'required unless image_urls has an item' };
}

export function maskWithoutImage({
  mask_url: mask,
  image_urls: images,
}: {
  readonly mask_url?: unknown;
  readonly image_urls?: unknown;
}): FieldError | undefined {
  const list = images ?? [];
  if ((mask ?? null) === null || !Array.isArray(list) || list.length > 0) return undefined;
  return { field: 'mask_url', code: 'invalid_value', message: 'needs an item in image_urls' };
}

/** SHA-256 of the validated body with sorted keys. It is stored for 24 h: no release may change it. */
export function requestHash(body: ImageRequestBody): string {
  return createHash('sha256').update(JSON.stringify(body, sortedKeys)).digest('hex');
}

/** For JSON.stringify: texts of the same members are the same, whatever their order. */
export function sortedKeys(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The body of POST /images/generate that an OpenAI request means, once its model is known. */
import { createHash } from 'node:crypto';
import type { Catalog, Model, Route } from '../catalog/catalog-schema.ts';
import { type ImageRequestBody, sortedKeys } from '../creations/image-request.ts';
import { hasTier, qualitiesOf } from '../catalog/catalog.ts';
import { type PlainMembers, tierIn, tiers } from '../contract/request-fields.ts';
import type { FieldError } from '../values/problem.ts';
import {
  type Fields,
  type OpenaiAction,
  type OpenaiAsked,
  type Quality,
  qualityOf,
  qualityWords,
} from './fields.ts';
import { shapeOf } from './size.ts';

/** The model in the quality that the request names. An error when the model has qualities, but not this one. */
export function modelInQuality(
  model: Model,
  { quality: word }: Pick<OpenaiAsked, 'quality'>,
  catalog: Catalog,
): Model | FieldError {
  const qualities = qualitiesOf(model, catalog);
  if (qualities.length === 0) return model;
  const wanted = Object.hasOwn(qualityWords, word) ? qualityWords[word] : undefined;
  if (wanted === 'auto') return model;
  for (const quality of wanted ?? []) {
    const found = qualities.find((one) => qualityOf(one) === quality);
    if (found) return found;
  }
  const words = Object.keys(qualityWords).map((one) => JSON.stringify(one));
  return { field: 'quality', code: 'unsupported_value', message: `must be one of ${words.join(', ')}` };
}

/** The body with the quality, of a model that renders several at one price. Other models ignore the field. */
export function bodyInQuality(
  body: ImageRequestBody,
  { quality: word }: Pick<OpenaiAsked, 'quality'>,
  model: Model,
): ImageRequestBody {
  const quality = tierOf(word, model);
  return quality === undefined ? body : { ...body, quality };
}

function tierOf(word: string, model: Model): ImageRequestBody['quality'] {
  const wanted = Object.hasOwn(qualityWords, word) ? qualityWords[word] : undefined;
  if (wanted === undefined || wanted === 'auto' || qualityOf(model)) return undefined;
  return tiers.find((tier) => wanted.includes(tier) && hasTier(model, tier));
}

/** The body with resolution and ratio of the size. @param routes the model's, for this account */
export function sizedBody(
  body: ImageRequestBody,
  { size }: Pick<OpenaiAsked, 'size'>,
  model: Model,
  routes: readonly Route[],
): ImageRequestBody {
  if (size === 'auto') return body;
  const { resolution, aspect_ratio: aspectRatio, output_format: format, image_urls: images = [] } = body;
  const fitting = routes.filter(
    (route) =>
      (format === undefined || route.output_formats.includes(format)) &&
      route.max_image_urls >= images.length,
  );
  const named = { ...(resolution && { resolution }), ...(aspectRatio && { aspectRatio }) };
  const shape = shapeOf(size, model, fitting, named);
  return shape ? { ...body, resolution: shape.resolution, aspect_ratio: shape.aspectRatio } : body;
}

/** The quality of a picture of this model. A model without qualities has the middle one. */
export function shownQuality(model: Model | undefined, asked: Pick<PlainMembers, 'quality'> = {}): Quality {
  return (model && qualityOf(model)) ?? tierIn(asked) ?? 'medium';
}

export function ignoredFields(asked: OpenaiAsked, model: Model | undefined, catalog: Catalog): string[] {
  const isQualityLost =
    asked.quality !== 'auto' &&
    model &&
    qualitiesOf(model, catalog).length === 0 &&
    tierOf(asked.quality, model) === undefined;
  return [...(isQualityLost ? ['quality'] : []), ...asked.ignored];
}

/**
 * SHA-256 of everything that a request asks for. Two requests are the same when their hashes are: names of files,
 * boundaries and the order of fields make no difference. The hash is stored, so a new release must not change it.
 * @param files the SHA-256 of each file, in order
 */
export function openaiRequestHash(action: OpenaiAction, fields: Fields, files: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify({ action, fields, files }, sortedKeys)).digest('hex');
}

/** A field that is null counts as left out. */
export function withoutNullFields(body: Fields): Fields {
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null));
}

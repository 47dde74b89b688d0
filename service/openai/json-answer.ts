/** The JSON answer with all pictures, and what it shows of them. */
import type { StreamedAnswer } from '../api/response-stream.ts';
import type { Catalog } from '../catalog/catalog-schema.ts';
import type { OutputFormat } from '../contract/request-fields.ts';
import { type CreationRecord, resultUrls } from '../creations/creation.ts';
import type { Creations } from '../generate/earlier-request.ts';
import { toUsd } from '../values/money.ts';
import type { FieldError } from '../values/problem.ts';
import type { Quality, ResponseFormat } from './fields.ts';
import type { OpenaiImageServices } from './open.ts';
import {
  base64Parts,
  creationHeaders,
  failureOf,
  firstBytes,
  isCompleted,
  paidFor,
  type Picture,
  picturesOf,
  unreadable,
} from './outcome.ts';
import { shownQuality } from './plan-body.ts';

interface Shown {
  readonly output_format: OutputFormat;
  /** The real one, in pixels. */
  readonly size: string;
  readonly quality: Quality;
  readonly background: 'opaque' | 'transparent';
}

/** @param picture undefined when no creation has a result, which only a defect can make */
export function shownOf(picture: Picture | undefined, catalog: Catalog): Shown {
  const { width = 0, height = 0 } = picture?.image ?? {};
  return {
    output_format: picture?.creation.outputFormat ?? 'png',
    size: `${width}x${height}`,
    quality: shownQuality(
      catalog.models.find(({ id }) => id === picture?.creation.model),
      picture?.creation,
    ),
    background: picture?.creation.background === 'transparent' ? 'transparent' : 'opaque',
  };
}

/** 200 once all creations have ended and one of them has a picture. Throws 500 when it cannot be read. */
export async function picturesAnswer(
  creations: Creations,
  formats: readonly ResponseFormat[],
  services: OpenaiImageServices,
): Promise<StreamedAnswer> {
  const pictures = picturesOf(creations);
  const head = `{"created":${createdOf(creations)},"data":[`;
  const tail = `],${JSON.stringify(aboutOf(creations, pictures, services)).slice(1)}`;
  const answer = { status: 200, headers: creationHeaders(creations) };
  const urls = formats.includes('url') ? await urlsOf(pictures, creations, services) : [];
  if (!formats.includes('b64_json')) {
    const data = urls.flatMap((url) => (url === undefined ? [] : [JSON.stringify({ url })]));
    if (data.length === 0) throw unreadable(new Error('the pictures have expired'), creations, services);
    return { ...answer, body: `${head}${data.join(',')}${tail}` };
  }
  const first = await firstBytes(pictures, creations, services);
  return { ...answer, body: base64Body(head, first, pictures, urls, tail, services) };
}

async function* base64Body(
  head: string,
  first: Uint8Array,
  pictures: readonly Picture[],
  urls: readonly (string | undefined)[],
  tail: string,
  { images }: Pick<OpenaiImageServices, 'images'>,
): AsyncGenerator<string> {
  for (const [index, { image }] of pictures.entries()) {
    yield `${index === 0 ? head : ','}{"b64_json":"`;
    yield* base64Parts(index === 0 ? first : await images.get(image.key));
    const url = urls[index];
    yield url === undefined ? '"}' : `","url":${JSON.stringify(url)}}`;
  }
  yield tail;
}

/** Undefined for a picture that has expired. */
async function urlsOf(
  pictures: readonly Picture[],
  creations: Creations,
  services: OpenaiImageServices,
): Promise<(string | undefined)[]> {
  const { results, clock } = services;
  const addressOf = await results.of(creations).catch((error: unknown) => {
    throw unreadable(error, creations, services);
  });
  return pictures.map(
    ({ creation, image }) => resultUrls({ ...creation, results: [image] }, addressOf, clock.now())[0],
  );
}

/** Unix seconds. The same for every answer with these creations. */
function createdOf(creations: Creations): number {
  const { completedAt, createdAt } = creations.find(isCompleted) ?? creations[0];
  return Math.floor(Date.parse(completedAt ?? createdAt) / 1_000);
}

function aboutOf(
  creations: Creations,
  pictures: readonly Picture[],
  { catalog }: Pick<OpenaiImageServices, 'catalog'>,
): Shown & { readonly darkroom: Record<string, unknown> } {
  const failed = creations.filter((one) => !isCompleted(one));
  return {
    ...shownOf(pictures[0], catalog),
    darkroom: {
      creation_ids: creations.map(({ id }) => id),
      cost: toUsd(paidFor(creations)),
      currency: 'USD',
      ...(failed.length > 0 && { failed: failed.map(failedView) }),
    },
  };
}

function failedView(creation: CreationRecord): Record<string, unknown> {
  return { creation_id: creation.id, ...failureOf(creation) };
}

// The members `images` and `mask` of an edit in JSON: addresses, uploads, and pictures in the address itself.

/** The bytes of a picture that the request holds, or an address as image_urls of the API takes it. */
export type EditImage = Uint8Array | string;

export interface ImagesList {
  readonly images: readonly EditImage[];
  readonly errors: readonly FieldError[];
}

/** @param value `[{"image_url": "https://…"}]` */
export function readImagesList(value: unknown): ImagesList {
  if (value === undefined) return { images: [], errors: [] };
  if (!Array.isArray(value)) return { images: [], errors: [wrong('image', 'must be an array')] };
  const images: EditImage[] = [];
  const errors: FieldError[] = [];
  for (const [index, item] of value.entries()) {
    const read = readItem(item, `image[${index}]`);
    if (typeof read === 'string' || read instanceof Uint8Array) images.push(read);
    else errors.push(read);
  }
  return { images, errors };
}

/** An image, or what is wrong with it. @param item `{"image_url": "https://…"}` */
export function readItem(item: unknown, field: string): EditImage | FieldError {
  const isObject = typeof item === 'object' && item !== null;
  const address = isObject && 'image_url' in item ? item.image_url : undefined;
  if (typeof address !== 'string') {
    const message = 'must be an object with image_url: an https: or data: address, or upload:ID';
    return { field, code: 'unsupported_value', message };
  }
  if (!/^data:/i.test(address)) return address;
  const [, data] = /^data:[^,]*;base64,([A-Za-z0-9+/_=\s-]*)$/i.exec(address) ?? [];
  return data === undefined
    ? { field, code: 'invalid_value', message: 'a data: address must hold base64' }
    : new Uint8Array(Buffer.from(data, 'base64'));
}

function wrong(field: string, message: string): FieldError {
  return { field, code: 'invalid_type', message };
}

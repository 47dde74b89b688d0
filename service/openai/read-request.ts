/** What a request to /images/generations or /images/edits asks for, as far as its model does not matter. */
import { createHash } from 'node:crypto';
import type { Caller } from '../api/admit.ts';
import type { CatalogServices } from '../api/open.ts';
import { bodyNotForm, formOfTooManyParts, wrongContentType } from '../api/problems.ts';
import { type ApiRequest, jsonBody, saysJson, saysUtf8 } from '../api/request.ts';
import { enabledRoutes, findModel } from '../catalog/catalog.ts';
import { maxBodyBytes, maxEditBodyBytes, maxEditBytes, maxFormParts } from '../contract/limits.ts';
import { openaiOperations, openaiRoot } from '../contract/operations.ts';
import type { ImageRequestBody } from '../creations/image-request.ts';
import { checkedBody } from '../generate/parse.ts';
import { type Plan, planCreation } from '../generate/plan.ts';
import { type FieldError, invalidRequest } from '../values/problem.ts';
import {
  type Fields,
  formFields,
  modelIdOf,
  type OpenaiAction,
  type OpenaiAsked,
  readFields,
} from './fields.ts';
import { type EditImage, type ImagesList, readImagesList, readItem } from './json-answer.ts';
import type { OpenaiImageServices } from './open.ts';
import {
  bodyInQuality,
  modelInQuality,
  openaiRequestHash,
  sizedBody,
  withoutNullFields,
} from './plan-body.ts';
import { OpenaiRefusal } from './refusal.ts';

/** A body of multipart/form-data, as libraries send the files of an edit. Node itself reads it. */
export interface Form {
  readonly fields: Fields;
  readonly files: readonly Uint8Array[];
  readonly mask?: Uint8Array;
}

/** `image[0]` is how PHP names the first of several. */
const imageField = /^image(\[\d*\])?$/;

function saysForm({ headers }: Pick<ApiRequest, 'headers'>): boolean {
  return /^multipart\/form-data\s*;/i.test(headers['content-type'] ?? '');
}

/** Throws 400 when the body is no such form. */
async function readForm({ headers, body }: ApiRequest): Promise<Form> {
  if (!saysUtf8({ headers })) throw wrongContentType('multipart/form-data in UTF-8');
  const form = await parse(body, headers['content-type'] ?? '');
  const texts: [string, string][] = [];
  const files: Uint8Array[] = [];
  let mask: Uint8Array | undefined;
  for (const [name, value] of form) {
    if (typeof value === 'string') texts.push([name, value]);
    else if (imageField.test(name)) files.push(new Uint8Array(await value.arrayBuffer()));
    else if (name === 'mask') mask = new Uint8Array(await value.arrayBuffer());
    // Any other file is ignored by its name.
    else texts.push([name, '']);
  }
  return { fields: formFields(texts), files, ...(mask && { mask }) };
}

/** The value of the boundary, quoted or not (RFC 2046). */
const boundaryIn = /;\s*boundary=(?:"([^"\\]{1,70})"|([^\s;,"]{1,70}))/i;

async function parse(body: Uint8Array, contentType: string): Promise<FormData> {
  const [, quoted, bare] = boundaryIn.exec(contentType) ?? [];
  const boundary = quoted ?? bare;
  if (boundary === undefined) throw bodyNotForm();
  if (hasTooManyParts(body, boundary)) throw formOfTooManyParts();
  try {
    // With the boundary that was counted, whatever else the header names.
    const headers = { 'content-type': `multipart/form-data; boundary="${boundary}"` };
    const response = new Response(Uint8Array.from(body), { headers });
    // Node advises against this for bodies without a limit. This body is in memory already, and has one.
    return await response.formData(); // oxlint-disable-line typescript/no-deprecated
  } catch {
    throw bodyNotForm();
  }
}

/** Stops at the first part above the limit: Node takes seconds to read a form of 20,000 parts. */
function hasTooManyParts(body: Uint8Array, boundary: string): boolean {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const delimiter = `--${boundary}`;
  let found = 0;
  for (let at = bytes.indexOf(delimiter); at !== -1; at = bytes.indexOf(delimiter, at + delimiter.length)) {
    found += 1;
    // One more delimiter ends the form.
    if (found > maxFormParts + 1) return true;
  }
  return false;
}

export interface OpenaiRequest {
  readonly action: OpenaiAction;
  readonly asked: OpenaiAsked;
  /** The fields that POST /images/generate has, too. The size is not in them yet. */
  readonly body: ImageRequestBody;
  /** The bytes of images that the request itself holds, by their items in body.image_urls and by body.mask_url. */
  readonly inline: ReadonlyMap<string, Uint8Array>;
  /** The hash that identifies a repeated request. */
  readonly hash: string;
}

/** Throws 400 that names every wrong field, or 413. */
export async function readRequest(
  request: ApiRequest,
  { aliases, outboundRules }: Pick<OpenaiImageServices, 'aliases' | 'outboundRules'>,
): Promise<OpenaiRequest> {
  const isEdit = request.path === `${openaiRoot}${openaiOperations.editImages.path}`;
  const action = isEdit ? 'edit' : 'generate';
  const { fields, images, mask, errors: imageErrors } = await (isEdit ? readEdit : readGeneration)(request);
  const { asked, errors } = readFields(fields, action);
  const { urls, maskUrl, inline } = named(images, mask);
  const { model } = asked.ours;
  const ours = {
    ...asked.ours,
    model: typeof model === 'string' || model === undefined ? modelIdOf(model, aliases) : model,
    ...(urls.length > 0 && { image_urls: urls }),
    ...(maskUrl !== undefined && { mask_url: maskUrl }),
  };
  const found = [...errors, ...imageErrors];
  if (isEdit && images.length === 0 && imageErrors.length === 0) found.push(noImage);
  const body = checkedBody(ours, found, { outboundRules }, (address) => inline.has(address));
  const files = [...inline].map(([name, bytes]) => {
    const hash = createHash('sha256').update(bytes).digest('hex');
    // A mask is no further source image.
    return name === maskName ? `mask ${hash}` : hash;
  });
  return { action, asked, body, inline, hash: openaiRequestHash(action, fields, files) };
}

const listInForm: FieldError = {
  field: 'images',
  code: 'unsupported_parameter',
  message: 'a form holds files named image[]; images is a list in JSON',
};

const noImage: FieldError = {
  field: 'image',
  code: 'required',
  message: 'at least one image is required: files named image[] in a form, or images in JSON',
};

const maskInForm: FieldError = {
  field: 'mask',
  code: 'unsupported_value',
  message: 'a form holds it as a file',
};

interface Read extends ImagesList {
  readonly fields: Fields;
  readonly mask?: EditImage;
}

async function readGeneration(request: ApiRequest): Promise<Read> {
  const fields = withoutNullFields(jsonBody(request, maxBodyBytes));
  return Promise.resolve({ fields, images: [], errors: [] });
}

async function readEdit(request: ApiRequest): Promise<Read> {
  if (request.body.byteLength > maxEditBodyBytes) throw tooLarge();
  const read = saysForm(request) ? await readFiles(request) : readJson(request);
  const bytes = [...read.images, read.mask ?? ''].reduce(
    (sum, image) => sum + (typeof image === 'string' ? 0 : image.byteLength),
    0,
  );
  if (bytes > maxEditBytes) throw tooLarge();
  return read;
}

async function readFiles(request: ApiRequest): Promise<Read> {
  const { fields, files, mask } = await readForm(request);
  const { images: listed, ...others } = fields;
  const errors = [
    ...(listed === undefined ? [] : [listInForm]),
    ...(others['mask'] === undefined ? [] : [maskInForm]),
  ];
  return { fields: others, images: files, ...(mask && { mask }), errors };
}

function readJson(request: ApiRequest): Read {
  if (!saysJson(request)) throw wrongContentType('multipart/form-data or application/json');
  const fields = withoutNullFields(jsonBody(request, maxEditBodyBytes));
  const { images, errors } = readImagesList(fields['images']);
  const mask = fields['mask'] === undefined ? undefined : readItem(fields['mask'], 'mask');
  if (typeof mask === 'object' && !(mask instanceof Uint8Array))
    return { fields, images, errors: [...errors, mask] };
  return { fields, images, ...(mask !== undefined && { mask }), errors };
}

/** Names in image_urls and mask_url that no client can send: an address of a client begins with a scheme. */
const inlineName = (index: number): string => `#${index}`;
const maskName = '#mask';

function named(
  images: readonly EditImage[],
  mask: EditImage | undefined,
): {
  readonly urls: readonly string[];
  readonly maskUrl: string | undefined;
  readonly inline: ReadonlyMap<string, Uint8Array>;
} {
  const inline = new Map<string, Uint8Array>();
  const urls = images.map((image, index) => {
    if (typeof image === 'string') return image;
    inline.set(inlineName(index), image);
    return inlineName(index);
  });
  if (!(mask instanceof Uint8Array)) return { urls, maskUrl: mask, inline };
  inline.set(maskName, mask);
  return { urls, maskUrl: maskName, inline };
}

function tooLarge(): OpenaiRefusal {
  const message =
    `The images of one request may have ${maxEditBytes / 1_000_000} MB together. Send larger images by ` +
    'POST /api/public/v1/uploads, and name them in a JSON body: {"images":[{"image_url":"upload:ID"}]}.';
  return new OpenaiRefusal('request_too_large', message, { param: 'image' });
}

/** The plan of each creation: model, quality, resolution and ratio. max_cost limits all together. */
export function planImages(
  { asked, body }: Pick<OpenaiRequest, 'asked' | 'body'>,
  caller: Caller,
  { catalog }: Pick<CatalogServices, 'catalog'>,
): Plan {
  const all = { ...body, count: asked.count };
  const { policy } = caller.account;
  const named = findModel(catalog, policy, all.model);
  // planCreation says in its own words that there is no such model.
  if (!named) return planCreation(all, caller, { catalog });
  const model = modelInQuality(named, asked, catalog);
  if (!('id' in model)) throw invalidRequest([model]);
  const inQuality = bodyInQuality(all, asked, model);
  const routes = enabledRoutes(model, policy, caller.state);
  const sized = sizedBody({ ...inQuality, model: model.id }, asked, model, routes);
  return planCreation(sized, caller, { catalog });
}

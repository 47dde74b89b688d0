/** What a request to /images/generations or /images/edits asks for, as far as its model does not matter. */
import { createHash } from 'node:crypto';
import { openaiOperations, openaiRoot } from '../../../core/contract.ts';
import type { ImageRequestBody } from '../../../core/image-request.ts';
import { maxBodyBytes, maxEditBodyBytes, maxEditBytes } from '../../../core/limits.ts';
import { modelIdOf } from '../../../core/openai/aliases.ts';
import { readFields, type Fields, type OpenaiAction, type OpenaiAsked } from '../../../core/openai/fields.ts';
import { openaiRequestHash, withoutNullFields } from '../../../core/openai/same-request.ts';
import type { FieldError } from '../../../core/problem.ts';
import { wrongContentType } from '../../http/problems.ts';
import { jsonBody, saysJson, type ApiRequest } from '../../http/request.ts';
import { checkedBody } from '../../operations/generate/parse.ts';
import type { OpenaiImageServices } from '../../services/openai-images.ts';
import { OpenaiRefusal } from '../http/refusal.ts';
import { readForm, saysForm } from './form.ts';
import { readImagesList, type EditImage, type ImagesList } from './images-list.ts';

export interface OpenaiRequest {
  readonly action: OpenaiAction;
  readonly asked: OpenaiAsked;
  /** The fields that POST /images/generate has, too. The size is not in them yet. */
  readonly body: ImageRequestBody;
  /** The bytes of images that the request itself holds, by their items in body.image_urls. */
  readonly inline: ReadonlyMap<string, Uint8Array>;
  /** By which the same request is recognised. */
  readonly hash: string;
}

/** Throws 400 that names every wrong field, or 413. */
export async function readRequest(
  request: ApiRequest,
  { aliases, outboundRules }: Pick<OpenaiImageServices, 'aliases' | 'outboundRules'>,
): Promise<OpenaiRequest> {
  const isEdit = request.path === `${openaiRoot}${openaiOperations.editImages.path}`;
  const action = isEdit ? 'edit' : 'generate';
  const { fields, images, errors: imageErrors } = await (isEdit ? readEdit : readGeneration)(request);
  const { asked, errors } = readFields(fields, action);
  const { urls, inline } = named(images);
  const { model } = asked.ours;
  const ours = {
    ...asked.ours,
    model: typeof model === 'string' || model === undefined ? modelIdOf(model, aliases) : model,
    ...(urls.length > 0 && { image_urls: urls }),
  };
  const found = [...errors, ...imageErrors];
  if (isEdit && images.length === 0 && imageErrors.length === 0) found.push(noImage);
  const body = checkedBody(ours, found, { outboundRules }, (address) => inline.has(address));
  const files = [...inline.values()].map((bytes) => createHash('sha256').update(bytes).digest('hex'));
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

interface Read extends ImagesList {
  readonly fields: Fields;
}

async function readGeneration(request: ApiRequest): Promise<Read> {
  const fields = withoutNullFields(jsonBody(request, maxBodyBytes));
  return Promise.resolve({ fields, images: [], errors: [] });
}

async function readEdit(request: ApiRequest): Promise<Read> {
  if (request.body.byteLength > maxEditBodyBytes) throw tooLarge();
  const read = saysForm(request) ? await readFiles(request) : readJson(request);
  const bytes = read.images.reduce(
    (sum, image) => sum + (typeof image === 'string' ? 0 : image.byteLength),
    0,
  );
  if (bytes > maxEditBytes) throw tooLarge();
  return read;
}

async function readFiles(request: ApiRequest): Promise<Read> {
  const { fields, files } = await readForm(request);
  const { images: listed, ...others } = fields;
  const errors = listed === undefined ? [] : [listInForm];
  return { fields: others, images: files, errors };
}

function readJson(request: ApiRequest): Read {
  if (!saysJson(request)) throw wrongContentType('multipart/form-data or application/json');
  const fields = withoutNullFields(jsonBody(request, maxEditBodyBytes));
  return { fields, ...readImagesList(fields['images']) };
}

/** A name in image_urls that no client can send: an address of a client begins with a scheme. */
const inlineName = (index: number): string => `#${index}`;

function named(images: readonly EditImage[]): {
  readonly urls: readonly string[];
  readonly inline: ReadonlyMap<string, Uint8Array>;
} {
  const inline = new Map<string, Uint8Array>();
  const urls = images.map((image, index) => {
    if (typeof image === 'string') return image;
    inline.set(inlineName(index), image);
    return inlineName(index);
  });
  return { urls, inline };
}

function tooLarge(): OpenaiRefusal {
  const message =
    `The images of one request may have ${maxEditBytes / 1_000_000} MB together. Send larger images by ` +
    'POST /api/public/v1/uploads, and name them in a JSON body: {"images":[{"image_url":"upload:ID"}]}.';
  return new OpenaiRefusal('request_too_large', message, { param: 'image' });
}

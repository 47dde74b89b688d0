/** The ways in which the fake of fal answers. */
import { aspectRatios } from '../../../../service/contract/request-fields.ts';
import { readImageHeader } from '../../../../service/values/image-bytes.ts';
import { type Fields, fieldsOf, type Pixels, pixelsNear, type VendorRow } from '../fake-vendor.ts';

/** The error codes of a model, each with its HTTP status and how the creation ends. */
export const modelCodes: readonly (readonly [
  code: string,
  status: number,
  ends: VendorRow['ends'],
  sources?: number,
])[] = [
  ['image_load_error', 422, 'SourceImageRejected', 1],
  ['image_too_small', 422, 'SourceImageRejected', 1],
  ['image_too_large', 422, 'SourceImageRejected', 1],
  ['file_too_large', 422, 'SourceImageRejected', 1],
  ['file_download_error', 422, 'SourceImageRejected', 1],
  ['unsupported_image_format', 422, 'SourceImageRejected', 1],
  ['face_detection_error', 422, 'SourceImageRejected', 1],
  ['no_media_generated', 422, 'NothingRendered'],
  ['generation_timeout', 504, 'GenerationTimedOut'],
  ['downstream_service_unavailable', 500, 'ServiceUnavailable'],
  ['downstream_service_error', 400, 'GenerationFailed'],
  ['internal_server_error', 500, 'GenerationFailed'],
];

/** The error codes of fal's platform. */
export const platformCodes: readonly (readonly [code: string, status: number, ends: VendorRow['ends']])[] = [
  ['request_timeout', 504, 'GenerationTimedOut'],
  ['startup_timeout', 504, 'GenerationTimedOut'],
  ['runner_scheduling_failure', 503, 'ServiceUnavailable'],
  ['runner_disconnected', 503, 'GenerationFailed'],
  ['client_cancelled', 499, 'GenerationTimedOut'],
];

export const falRows: readonly VendorRow[] = [
  { row: 'success', says: 'queued, in progress, completed', ends: 'completed' },
  { row: 'success-sources', says: 'completed, with two source images', ends: 'completed', sources: 2 },
  { row: 'prompt-policy', says: 'content_policy_violation in the prompt', ends: 'PromptRejected' },
  {
    row: 'source-policy',
    says: 'content_policy_violation in a source image',
    ends: 'SourceImageRejected',
    sources: 1,
  },
  { row: 'nsfw', says: 'has_nsfw_concepts, and a black picture', ends: 'PromptRejected' },
  ...modelCodes.map(([row, status, ends, sources]) => ({
    row,
    says: `${status} ${row}`,
    ends,
    ...(sources !== undefined && { sources }),
  })),
  ...platformCodes.map(([row, status, ends]) => ({ row, says: `${status} ${row}`, ends })),
  { row: 'error-in-status', says: 'a status that contains an error', ends: 'ServiceUnavailable' },
  { row: 'no-images', says: 'a result without images', ends: 'NothingRendered' },
  { row: 'empty-picture', says: 'a picture of no bytes', ends: 'NothingRendered' },
  { row: 'unknown-shape', says: '200 without addresses', ends: 'InternalFailure' },
  { row: 'unknown-state', says: 'an undocumented state', ends: 'InternalFailure' },
  { row: 'unknown-result', says: 'a result of an unknown shape', ends: 'InternalFailure' },
  { row: 'foreign-status-url', says: 'a status address on another host', ends: 'InternalFailure' },
  { row: 'foreign-picture', says: 'a picture on another host', ends: 'InternalFailure' },
  { row: 'page', says: 'a page in place of the picture', ends: 'InternalFailure' },
  { row: 'job-missing', says: '404 when the job is polled', ends: 'InternalFailure' },
  { row: 'break', says: 'the connection is closed after the submission', ends: 'InternalFailure' },
  { row: 'server-error', says: '500 without a code', ends: 'InternalFailure' },
  { row: 'throttled', says: '429', ends: 'ServiceUnavailable' },
  { row: 'down', says: '503', ends: 'ServiceUnavailable' },
  { row: 'unauthorized', says: '401', ends: 'ServiceUnavailable' },
  { row: 'payment-required', says: '402', ends: 'ServiceUnavailable' },
  { row: 'locked', says: '403: the account has no balance', ends: 'ServiceUnavailable' },
  { row: 'key-revoked', says: '401 when the job is polled', ends: 'ServiceUnavailable' },
  { row: 'poll-broke', says: 'the connection of the first poll is closed', ends: 'completed' },
  { row: 'poll-throttled', says: '429 to the first poll', ends: 'completed' },
  { row: 'result-down', says: '503 without a code to the first request for the result', ends: 'completed' },
  { row: 'download-broke', says: 'the connection of the first download is closed', ends: 'completed' },
];

/** The models of the fake of fal: what each one takes, and the size of its pictures. */
export interface FakeModel {
  /** The path of the model without and with source images. */
  readonly path: string;
  readonly editPath: string;
  readonly mostImages: number;
  /** Whether a value of a field is right. The model refuses every other field. */
  readonly fields: Readonly<Record<string, (value: unknown) => boolean>>;
  /** The fields that a request must have. */
  readonly needed: readonly string[];
}

const oneOf =
  (...values: readonly unknown[]) =>
  (value: unknown): boolean =>
    values.includes(value);
const isText = (value: unknown): boolean => typeof value === 'string';
const isFlag = (value: unknown): boolean => typeof value === 'boolean';

function isFluxSize(size: unknown): boolean {
  const { width, height } = fieldsOf(size);
  const isSide = (side: unknown): boolean =>
    Number.isInteger(side) && Number(side) >= 64 && Number(side) <= 2048 && Number(side) % 16 === 0;
  return isSide(width) && isSide(height);
}

/** The limits of OpenAI. */
function isGptSize(size: unknown): boolean {
  const { width, height } = fieldsOf(size);
  const sides = [Number(width), Number(height)];
  const [short = 0, long = 0] = sides.toSorted((one, other) => one - other);
  return (
    sides.every((side) => Number.isInteger(side) && side % 16 === 0) &&
    long <= 3840 &&
    long <= 3 * short &&
    short * long >= 655_360 &&
    short * long <= 8_294_400
  );
}

const ofFlux2 = {
  prompt: isText,
  image_size: isFluxSize,
  seed: Number.isInteger,
  enable_safety_checker: isFlag,
  sync_mode: isFlag,
};
const large = {
  fields: {
    ...ofFlux2,
    output_format: oneOf('jpeg', 'png'),
    safety_tolerance: oneOf('1', '2', '3', '4', '5'),
  },
  needed: ['prompt', 'image_size'],
  mostImages: 8,
};
const gptImage = (...qualities: readonly string[]) => ({
  fields: {
    prompt: isText,
    image_size: isGptSize,
    quality: oneOf('auto', 'low', 'medium', 'high', ...qualities),
    num_images: oneOf(1, 2, 3, 4),
    output_format: oneOf('jpeg', 'png', 'webp'),
    sync_mode: isFlag,
  },
  needed: ['prompt', 'image_size', 'quality'],
  mostImages: 16,
});

export const fakeModels: readonly FakeModel[] = [
  { path: 'fal-ai/flux-2-pro', editPath: 'fal-ai/flux-2-pro/edit', ...large },
  { path: 'fal-ai/flux-2-max', editPath: 'fal-ai/flux-2-max/edit', ...large },
  { path: 'fal-ai/flux-2-flex', editPath: 'fal-ai/flux-2-flex/edit', ...large },
  {
    path: 'fal-ai/flux-2/klein/4b',
    editPath: 'fal-ai/flux-2/klein/4b/edit',
    fields: {
      ...ofFlux2,
      output_format: oneOf('jpeg', 'png', 'webp'),
      num_images: oneOf(1, 2, 3, 4),
      num_inference_steps: Number.isInteger,
    },
    needed: ['prompt', 'image_size'],
    mostImages: 4,
  },
  { path: 'openai/gpt-image-2', editPath: 'openai/gpt-image-2/edit', ...gptImage() },
  ...['flare', 'sunburst'].map((name) => ({
    path: `openai/gpt-image-2.5/${name}/text-to-image`,
    editPath: `openai/gpt-image-2.5/${name}/edit`,
    ...gptImage('xhigh', 'max'),
  })),
  {
    path: 'google/nano-banana-2.1',
    editPath: 'google/nano-banana-2.1/edit',
    fields: {
      prompt: isText,
      aspect_ratio: oneOf('auto', ...aspectRatios),
      resolution: oneOf('1K', '2K', '4K'),
      num_images: oneOf(1, 2, 3, 4),
      seed: Number.isInteger,
      output_format: oneOf('jpeg', 'png', 'webp'),
      sync_mode: isFlag,
    },
    needed: ['prompt', 'aspect_ratio', 'resolution'],
    mostImages: 14,
  },
  {
    path: 'blackforestlabs/flux-3/text-to-image',
    editPath: 'blackforestlabs/flux-3/edit-image',
    fields: {
      prompt: isText,
      aspect_ratio: oneOf(...aspectRatios),
      resolution: oneOf('768sq', '1k', '1.5k', '2k', '4k'),
      output_format: oneOf('jpeg', 'png'),
      safety_tolerance: oneOf(0, 1, 2, 3, 4),
      enable_prompt_expansion: isFlag,
      sync_mode: isFlag,
    },
    needed: ['prompt', 'aspect_ratio', 'resolution'],
    mostImages: 10,
  },
];

/** The name of the first field that the model would refuse. */
export function wrongField(body: Fields, model: FakeModel, isEdit: boolean): string | undefined {
  const { image_urls: images, ...others } = body;
  const missing = model.needed.find((name) => others[name] === undefined);
  const wrong = Object.entries(others).find(
    ([name, value]) => !Object.hasOwn(model.fields, name) || model.fields[name]?.(value) !== true,
  )?.[0];
  const urls: readonly unknown[] = Array.isArray(images) ? images : [];
  const isRight = isEdit
    ? urls.length > 0 && urls.length <= model.mostImages && urls.every(isPicture)
    : images === undefined;
  return missing ?? wrong ?? (isRight ? undefined : 'image_urls');
}

function isPicture(url: unknown): boolean {
  const data = /^data:(image\/\w+);base64,(.+)$/.exec(String(url));
  return data !== null && readImageHeader(Buffer.from(data[2] ?? '', 'base64'))?.contentType === data[1];
}

/** The pixels that a right request asks for. */
export function sizeOf({ image_size: size, resolution, aspect_ratio: ratio }: Fields): Pixels {
  const { width, height } = fieldsOf(size);
  return typeof width === 'number' && typeof height === 'number'
    ? { width, height }
    : pixelsNear(String(resolution), String(ratio));
}

/** The ways in which the fake of Replicate answers. */
import * as z from 'zod';
import { readImageHeader } from '../../../../service/values/image-bytes.ts';
import type { Fields, VendorRow } from '../fake-vendor.ts';

/** The error texts of failed predictions. */
export const failures: readonly (readonly [row: string, error: string, ends: VendorRow['ends']])[] = [
  [
    'sensitive',
    'The input or output was flagged as sensitive. Please try again with different inputs. (E005) (uIJ6l3ruRD)',
    'PromptRejected',
  ],
  ['nsfw', 'NSFW content detected. Try running it again, or try a different prompt.', 'PromptRejected'],
  ['timeout', 'Prediction timed out while waiting for the model', 'GenerationTimedOut'],
  ['failed', 'Director: unexpected error handling prediction (E6716)', 'GenerationFailed'],
];

export const replicateRows: readonly VendorRow[] = [
  { row: 'success', says: 'starting, processing, succeeded', ends: 'completed' },
  { row: 'success-sources', says: 'succeeded, with two source images', ends: 'completed', sources: 2 },
  ...failures.map(([row, error, ends]) => ({ row, says: `failed: ${error}`, ends })),
  { row: 'canceled', says: 'the deadline passed while the prediction ran', ends: 'GenerationTimedOut' },
  { row: 'aborted', says: 'the deadline passed before the prediction started', ends: 'GenerationTimedOut' },
  { row: 'no-output', says: 'succeeded without an output', ends: 'NothingRendered' },
  { row: 'empty-picture', says: 'a picture of no bytes', ends: 'NothingRendered' },
  { row: 'invalid-input', says: '422 about a field that Darkroom sends', ends: 'InternalFailure' },
  { row: 'unknown-shape', says: '201 without an id', ends: 'InternalFailure' },
  { row: 'unknown-state', says: 'an undocumented state', ends: 'InternalFailure' },
  { row: 'foreign-picture', says: 'an output on another host', ends: 'InternalFailure' },
  { row: 'output-gone', says: 'the output is deleted', ends: 'InternalFailure' },
  { row: 'page', says: 'a page in place of the picture', ends: 'InternalFailure' },
  { row: 'job-missing', says: '404 when the prediction is polled', ends: 'InternalFailure' },
  { row: 'break', says: 'the connection is closed after the submission', ends: 'InternalFailure' },
  { row: 'server-error', says: '500', ends: 'InternalFailure' },
  { row: 'throttled', says: '429', ends: 'ServiceUnavailable' },
  { row: 'down', says: '503', ends: 'ServiceUnavailable' },
  { row: 'unauthorized', says: '401', ends: 'ServiceUnavailable' },
  { row: 'insufficient-credit', says: '402', ends: 'ServiceUnavailable' },
  { row: 'forbidden', says: '403', ends: 'ServiceUnavailable' },
  { row: 'key-revoked', says: '401 when the prediction is polled', ends: 'ServiceUnavailable' },
  { row: 'poll-broke', says: 'the connection of the first poll is closed', ends: 'completed' },
  { row: 'poll-throttled', says: '429 to the first poll', ends: 'completed' },
  { row: 'poll-down', says: '502 to the first poll', ends: 'completed' },
  { row: 'download-broke', says: 'the connection of the first download is closed', ends: 'completed' },
];

/** The models of the fake of Replicate: what each one takes. */
export interface FakeModel {
  /** The name of the field of the source images. */
  readonly images: string;
  readonly mostImages: number;
  readonly ratios: readonly string[];
  readonly fields: readonly string[];
  /** A prediction has a list of addresses as its output, and not one address. */
  readonly hasList: boolean;
}

const ratios = ['1:1', '16:9', '3:2', '2:3', '4:5', '5:4', '9:16', '3:4', '4:3', 'match_input_image'];
export const large: FakeModel = {
  images: 'input_images',
  mostImages: 8,
  ratios: [...ratios, 'custom'],
  fields: ['seed', 'width', 'height', 'resolution', 'safety_tolerance'],
  hasList: false,
};
export const models: Readonly<Record<string, FakeModel>> = {
  'black-forest-labs/flux-2-pro': large,
  'black-forest-labs/flux-2-max': large,
  'black-forest-labs/flux-2-klein-4b': {
    images: 'images',
    mostImages: 5,
    ratios,
    fields: ['seed', 'output_megapixels', 'go_fast', 'disable_safety_checker'],
    hasList: true,
  },
  'black-forest-labs/flux-3-image': {
    images: 'images',
    mostImages: 10,
    ratios: [...ratios, '21:9', '9:21'],
    fields: ['resolution', 'grounding', 'safety_tolerance'],
    hasList: false,
  },
};
export const formatSchema = z.enum(['png', 'jpg', 'webp']);
const commonFields = ['prompt', 'aspect_ratio', 'output_format', 'output_quality'];
/** Of FLUX 3. The adapter sends no such field to other models. */
const classes = ['768sq', '1k', '1.5k', '2k', '4k'];
const mostInline = 256_000;

/** The name of the first field of the input that the model's schema refuses. */
export function wrongField(input: Fields, model: FakeModel, files: ReadonlySet<string>): string | undefined {
  const unknown = Object.keys(input).find(
    (name) => ![...commonFields, ...model.fields, model.images].includes(name),
  );
  const isSide = (side: unknown): boolean =>
    side === undefined ||
    (Number.isInteger(side) && Number(side) >= 256 && Number(side) <= 2048 && Number(side) % 16 === 0);
  const { prompt, width, height, aspect_ratio: ratio = '1:1' } = input;
  const isCustom = ratio === 'custom';
  const quality = Number(input['output_quality'] ?? 80);
  const images = input[model.images] ?? [];
  const isFile = (address: unknown): boolean => {
    if (typeof address !== 'string') return false;
    const bytes = Buffer.from(/^data:image\/\w+;base64,(.+)$/.exec(address)?.[1] ?? '', 'base64');
    return files.has(address) || (bytes.byteLength <= mostInline && readImageHeader(bytes) !== undefined);
  };
  if (unknown !== undefined) return unknown;
  if (typeof prompt !== 'string') return 'prompt';
  if (!model.ratios.includes(String(ratio))) return 'aspect_ratio';
  if (!isSide(width) || (isCustom && width === undefined)) return 'width';
  if (!isSide(height) || (isCustom && height === undefined)) return 'height';
  if (input['seed'] !== undefined && !Number.isInteger(input['seed'])) return 'seed';
  if (!formatSchema.safeParse(input['output_format']).success) return 'output_format';
  if (!(quality >= 0 && quality <= 100)) return 'output_quality';
  if (![1, 2, 3, 4, 5].includes(Number(input['safety_tolerance'] ?? 2))) return 'safety_tolerance';
  const { resolution = '1k' } = input;
  if (typeof resolution !== 'string' || !classes.includes(resolution)) return 'resolution';
  if (typeof (input['grounding'] ?? true) !== 'boolean') return 'grounding';
  const { output_megapixels: megapixels = '1' } = input;
  if (megapixels !== '1' && megapixels !== '2') return 'output_megapixels';
  return Array.isArray(images) && images.length <= model.mostImages && images.every(isFile)
    ? undefined
    : model.images;
}

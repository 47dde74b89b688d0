/** The ways in which the fake of Replicate answers. */
import type { VendorRow } from '../fake-vendor.ts';

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

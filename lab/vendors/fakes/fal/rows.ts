/** The ways in which the fake of fal answers. */
import type { VendorRow } from '../fake-vendor.ts';

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

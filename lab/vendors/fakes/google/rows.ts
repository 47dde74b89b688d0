/** The ways in which the fake of Google answers. */
import type { RefusalReason } from '../../../../service/contract/failures.ts';
import type { Reply, VendorRow } from '../fake-vendor.ts';

export interface GoogleRow extends VendorRow {
  /** How the adapter reads this answer. */
  readonly answers: RefusalReason | 'rendered';
  /**
   * Absent: the fake renders a picture. A number is the status of a recorded answer, whose body is in
   * lab/vendors/answers/google.json.
   */
  readonly reply?: number | Reply;
}

export const imageAnswer = (data: string): Reply => ({
  status: 200,
  body: {
    candidates: [
      {
        content: {
          role: 'model',
          parts: [
            { text: 'A draft first.', thought: true },
            { inlineData: { mimeType: 'image/jpeg', data: 'ZHJhZnQ=' }, thought: true },
            { inlineData: { mimeType: 'image/jpeg', data } },
          ],
        },
        finishReason: 'STOP',
        index: 0,
      },
    ],
    usageMetadata: {
      promptTokenCount: 12,
      promptTokensDetails: [{ modality: 'TEXT', tokenCount: 12 }],
      candidatesTokenCount: 1120,
      candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: 1120 }],
      thoughtsTokenCount: 200,
      totalTokenCount: 1332,
    },
    modelVersion: 'gemini-3.1-flash-image',
    responseId: '0123456789',
  },
});

export const googleRows: readonly GoogleRow[] = [
  { row: 'success', says: 'a picture', answers: 'rendered', ends: 'completed' },
  {
    row: 'sources',
    says: 'a picture made from two source images',
    answers: 'rendered',
    ends: 'completed',
    sources: 2,
  },
  {
    row: 'image-safety',
    says: 'finishReason IMAGE_SAFETY',
    answers: 'prompt',
    ends: 'PromptRejected',
    reply: 200,
  },
  {
    row: 'image-prohibited',
    says: 'finishReason IMAGE_PROHIBITED_CONTENT',
    answers: 'prompt',
    ends: 'PromptRejected',
    reply: 200,
  },
  {
    row: 'prohibited',
    says: 'finishReason PROHIBITED_CONTENT',
    answers: 'prompt',
    ends: 'PromptRejected',
    reply: 200,
  },
  { row: 'safety', says: 'finishReason SAFETY', answers: 'prompt', ends: 'PromptRejected', reply: 200 },
  {
    row: 'image-recitation',
    says: 'finishReason IMAGE_RECITATION',
    answers: 'prompt',
    ends: 'PromptRejected',
    reply: 200,
  },
  {
    row: 'prompt-blocked',
    says: 'promptFeedback.blockReason',
    answers: 'prompt',
    ends: 'PromptRejected',
    reply: 200,
  },
  {
    row: 'no-image',
    says: 'finishReason NO_IMAGE',
    answers: 'nothing_rendered',
    ends: 'NothingRendered',
    reply: 200,
  },
  {
    row: 'text-only',
    says: 'finishReason STOP with only a text',
    answers: 'nothing_rendered',
    ends: 'NothingRendered',
    reply: 200,
  },
  {
    row: 'empty-picture',
    says: 'an empty picture',
    answers: 'nothing_rendered',
    ends: 'NothingRendered',
    reply: imageAnswer(''),
  },
  {
    row: 'image-other',
    says: 'finishReason IMAGE_OTHER',
    answers: 'failed',
    ends: 'GenerationFailed',
    reply: 200,
  },
  {
    row: 'bad-source',
    says: '400 "Provided image is not valid"',
    answers: 'source_image',
    ends: 'SourceImageRejected',
    reply: 400,
    sources: 1,
  },
  {
    row: 'unreadable-source',
    says: '400 "Unable to process input image"',
    answers: 'source_image',
    ends: 'SourceImageRejected',
    reply: 400,
    sources: 1,
  },
  {
    row: 'payload-too-large',
    says: '400 "Request payload size exceeds the limit"',
    answers: 'source_image',
    ends: 'SourceImageRejected',
    reply: 400,
    sources: 1,
  },
  {
    row: 'too-large',
    says: '413',
    answers: 'source_image',
    ends: 'SourceImageRejected',
    reply: { status: 413, body: '<html>413 Request Entity Too Large</html>' },
    sources: 1,
  },
  {
    row: 'throttled',
    says: '429 RESOURCE_EXHAUSTED',
    answers: 'unavailable',
    ends: 'ServiceUnavailable',
    reply: 429,
  },
  { row: 'down', says: '503 UNAVAILABLE', answers: 'unavailable', ends: 'ServiceUnavailable', reply: 503 },
  {
    row: 'timed-out',
    says: '504 DEADLINE_EXCEEDED',
    answers: 'timed_out',
    ends: 'GenerationTimedOut',
    reply: 504,
  },
  { row: 'error', says: '500 INTERNAL', answers: 'failed', ends: 'GenerationFailed', reply: 500 },
  {
    row: 'gateway',
    says: '502 of a proxy on the way',
    answers: 'failed',
    ends: 'GenerationFailed',
    reply: { status: 502, body: '<html>502 Bad Gateway</html>' },
  },
  {
    row: 'key-refused',
    says: '400 API_KEY_INVALID',
    answers: 'credentials',
    ends: 'ServiceUnavailable',
    reply: 400,
  },
  {
    row: 'billing',
    says: '400 FAILED_PRECONDITION: billing is off',
    answers: 'credentials',
    ends: 'ServiceUnavailable',
    reply: 400,
  },
  {
    row: 'unauthenticated',
    says: '401',
    answers: 'credentials',
    ends: 'ServiceUnavailable',
    reply: { status: 401, body: {} },
  },
  {
    row: 'payment',
    says: '402',
    answers: 'credentials',
    ends: 'ServiceUnavailable',
    reply: { status: 402, body: {} },
  },
  {
    row: 'forbidden',
    says: '403 PERMISSION_DENIED',
    answers: 'credentials',
    ends: 'ServiceUnavailable',
    reply: 403,
  },
  {
    row: 'model-missing',
    says: '404 NOT_FOUND',
    answers: 'credentials',
    ends: 'ServiceUnavailable',
    reply: 404,
  },
  {
    row: 'no-picture',
    says: 'a text in place of the picture',
    answers: 'rendered',
    ends: 'InternalFailure',
    reply: imageAnswer(Buffer.from('<html>').toString('base64')),
  },
  {
    row: 'other-refusal',
    says: '400 INVALID_ARGUMENT about a field that Darkroom sends',
    answers: 'unknown_answer',
    ends: 'InternalFailure',
    reply: 400,
  },
  {
    row: 'other-finish',
    says: 'an unexpected finishReason',
    answers: 'unknown_answer',
    ends: 'InternalFailure',
    reply: 200,
  },
  {
    row: 'unknown-shape',
    says: '200 with a body of another shape',
    answers: 'unknown_answer',
    ends: 'InternalFailure',
    reply: { status: 200, body: { output: ['?'] } },
  },
  {
    row: 'redirect',
    says: '302 to another host',
    answers: 'unknown_answer',
    ends: 'InternalFailure',
    reply: { status: 302, headers: { location: 'https://elsewhere.test/' } },
  },
  {
    row: 'break',
    says: 'a connection that is closed after the request',
    answers: 'unknown_outcome',
    ends: 'InternalFailure',
    reply: { status: 'break' },
  },
];

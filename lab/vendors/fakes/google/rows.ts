/** The ways in which the fake of Google answers. */
import { type AnsweredRow, type Reply, row } from '../fake-vendor.ts';

export interface GoogleRow extends AnsweredRow {
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
  row('success', 'a picture', 'rendered'),
  row('sources', 'a picture made from two source images', 'rendered', { sources: 2 }),
  row('image-safety', 'finishReason IMAGE_SAFETY', 'prompt', { reply: 200 }),
  row('image-prohibited', 'finishReason IMAGE_PROHIBITED_CONTENT', 'prompt', { reply: 200 }),
  row('prohibited', 'finishReason PROHIBITED_CONTENT', 'prompt', { reply: 200 }),
  row('safety', 'finishReason SAFETY', 'prompt', { reply: 200 }),
  row('image-recitation', 'finishReason IMAGE_RECITATION', 'prompt', { reply: 200 }),
  row('prompt-blocked', 'promptFeedback.blockReason', 'prompt', { reply: 200 }),
  row('no-image', 'finishReason NO_IMAGE', 'nothing_rendered', { reply: 200 }),
  row('text-only', 'finishReason STOP with only a text', 'nothing_rendered', { reply: 200 }),
  row('empty-picture', 'an empty picture', 'nothing_rendered', { reply: imageAnswer('') }),
  row('image-other', 'finishReason IMAGE_OTHER', 'failed', { reply: 200 }),
  row('bad-source', '400 "Provided image is not valid"', 'source_image', { reply: 400, sources: 1 }),
  row('unreadable-source', '400 "Unable to process input image"', 'source_image', { reply: 400, sources: 1 }),
  row('payload-too-large', '400 "Request payload size exceeds the limit"', 'source_image', {
    reply: 400,
    sources: 1,
  }),
  row('too-large', '413', 'source_image', {
    reply: { status: 413, body: '<html>413 Request Entity Too Large</html>' },
    sources: 1,
  }),
  row('throttled', '429 RESOURCE_EXHAUSTED', 'unavailable', { reply: 429 }),
  row('down', '503 UNAVAILABLE', 'unavailable', { reply: 503 }),
  row('timed-out', '504 DEADLINE_EXCEEDED', 'timed_out', { reply: 504 }),
  row('error', '500 INTERNAL', 'failed', { reply: 500 }),
  row('gateway', '502 of a proxy on the way', 'failed', {
    reply: { status: 502, body: '<html>502 Bad Gateway</html>' },
  }),
  row('key-refused', '400 API_KEY_INVALID', 'credentials', { reply: 400 }),
  row('billing', '400 FAILED_PRECONDITION: billing is off', 'credentials', { reply: 400 }),
  row('unauthenticated', '401', 'credentials', { reply: { status: 401, body: {} } }),
  row('payment', '402', 'credentials', { reply: { status: 402, body: {} } }),
  row('forbidden', '403 PERMISSION_DENIED', 'credentials', { reply: 403 }),
  row('model-missing', '404 NOT_FOUND', 'credentials', { reply: 404 }),
  row('no-picture', 'a text in place of the picture', 'rendered', {
    ends: 'InternalFailure',
    reply: imageAnswer(Buffer.from('<html>').toString('base64')),
  }),
  row('other-refusal', '400 INVALID_ARGUMENT about a field that Darkroom sends', 'unknown_answer', {
    reply: 400,
  }),
  row('other-finish', 'an unexpected finishReason', 'unknown_answer', { reply: 200 }),
  row('unknown-shape', '200 with a body of another shape', 'unknown_answer', {
    reply: { status: 200, body: { output: ['?'] } },
  }),
  row('redirect', '302 to another host', 'unknown_answer', {
    reply: { status: 302, headers: { location: 'https://elsewhere.test/' } },
  }),
  row('break', 'a connection that is closed after the request', 'unknown_outcome', {
    reply: { status: 'break' },
  }),
];

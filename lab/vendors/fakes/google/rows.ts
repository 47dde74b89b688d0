/** The ways in which the fake of Google answers. */
import { type AnsweredRow, reply, type Reply, row } from '../fake-vendor.ts';

export interface GoogleRow extends AnsweredRow {
  /** Absent: the fake renders a picture. */
  readonly reply?: Reply;
}

const answeredBy = { modelVersion: 'gemini-3.1-flash-image', responseId: '0123456789' };

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
    ...answeredBy,
  },
});

const promptAlone = { promptTokenCount: 12, totalTokenCount: 12 };

/** An answer without a picture. */
function finished(finishReason: string, finishMessage: string): Reply {
  return reply(200, {
    candidates: [{ finishReason, finishMessage, index: 0 }],
    usageMetadata: promptAlone,
    ...answeredBy,
  });
}

export function refused(code: number, status: string, message: string, more: object = {}): Reply {
  return reply(code, { error: { code, message, status, ...more } });
}

export const keyRefused = refused(
  400,
  'INVALID_ARGUMENT',
  'API key not valid. Please pass a valid API key.',
  {
    details: [
      {
        '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
        reason: 'API_KEY_INVALID',
        domain: 'googleapis.com',
        metadata: { service: 'generativelanguage.googleapis.com' },
      },
    ],
  },
);

export const googleRows: readonly GoogleRow[] = [
  row('success', 'a picture', 'rendered'),
  row('sources', 'a picture made from two source images', 'rendered', { sources: 2 }),
  row('image-safety', 'finishReason IMAGE_SAFETY', 'prompt', {
    reply: finished(
      'IMAGE_SAFETY',
      "Unable to show the generated image. The image was filtered out because it violated Google's Generative AI Prohibited Use policy.",
    ),
  }),
  row('image-prohibited', 'finishReason IMAGE_PROHIBITED_CONTENT', 'prompt', {
    reply: finished(
      'IMAGE_PROHIBITED_CONTENT',
      'Unable to show the generated image because it contains prohibited content.',
    ),
  }),
  row('prohibited', 'finishReason PROHIBITED_CONTENT', 'prompt', {
    reply: finished('PROHIBITED_CONTENT', 'The response was blocked because it contains prohibited content.'),
  }),
  row('safety', 'finishReason SAFETY', 'prompt', {
    reply: finished('SAFETY', 'The response was blocked for safety.'),
  }),
  row('image-recitation', 'finishReason IMAGE_RECITATION', 'prompt', {
    reply: finished('IMAGE_RECITATION', 'Unable to show the generated image because it may be a recitation.'),
  }),
  row('prompt-blocked', 'promptFeedback.blockReason', 'prompt', {
    reply: reply(200, {
      promptFeedback: { blockReason: 'PROHIBITED_CONTENT' },
      usageMetadata: promptAlone,
      ...answeredBy,
    }),
  }),
  row('no-image', 'finishReason NO_IMAGE', 'nothing_rendered', {
    reply: finished('NO_IMAGE', 'The model was expected to generate an image, but none was generated.'),
  }),
  row('text-only', 'finishReason STOP with only a text', 'nothing_rendered', {
    reply: reply(200, {
      candidates: [
        {
          content: { role: 'model', parts: [{ text: 'What would you like me to draw?' }] },
          finishReason: 'STOP',
          index: 0,
        },
      ],
      usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 9, totalTokenCount: 12 },
      ...answeredBy,
    }),
  }),
  row('empty-picture', 'an empty picture', 'nothing_rendered', { reply: imageAnswer('') }),
  row('image-other', 'finishReason IMAGE_OTHER', 'failed', {
    reply: finished(
      'IMAGE_OTHER',
      'Unable to show the generated image. The model could not generate the image based on the prompt provided.',
    ),
  }),
  row('bad-source', '400 "Provided image is not valid"', 'source_image', {
    reply: refused(400, 'INVALID_ARGUMENT', 'Provided image is not valid.'),
    sources: 1,
  }),
  row('unreadable-source', '400 "Unable to process input image"', 'source_image', {
    reply: refused(
      400,
      'INVALID_ARGUMENT',
      'Unable to process input image. Please retry or report in https://developers.generativeai.google/guide/troubleshooting',
    ),
    sources: 1,
  }),
  row('payload-too-large', '400 "Request payload size exceeds the limit"', 'source_image', {
    reply: refused(400, 'INVALID_ARGUMENT', 'Request payload size exceeds the limit: 20971520 bytes.'),
    sources: 1,
  }),
  row('too-large', '413', 'source_image', {
    reply: { status: 413, body: '<html>413 Request Entity Too Large</html>' },
    sources: 1,
  }),
  row('throttled', '429 RESOURCE_EXHAUSTED', 'unavailable', {
    reply: refused(
      429,
      'RESOURCE_EXHAUSTED',
      'You exceeded your current quota, please check your plan and billing details.',
    ),
  }),
  row('down', '503 UNAVAILABLE', 'unavailable', {
    reply: refused(503, 'UNAVAILABLE', 'The model is overloaded. Please try again later.'),
  }),
  row('timed-out', '504 DEADLINE_EXCEEDED', 'timed_out', {
    reply: refused(504, 'DEADLINE_EXCEEDED', 'Deadline expired before operation could complete.'),
  }),
  row('error', '500 INTERNAL', 'failed', {
    reply: refused(
      500,
      'INTERNAL',
      'An internal error has occurred. Please retry or report in https://developers.generativeai.google/guide/troubleshooting',
    ),
  }),
  row('gateway', '502 of a proxy on the way', 'failed', {
    reply: { status: 502, body: '<html>502 Bad Gateway</html>' },
  }),
  row('key-refused', '400 API_KEY_INVALID', 'credentials', { reply: keyRefused }),
  row('billing', '400 FAILED_PRECONDITION: billing is off', 'credentials', {
    reply: refused(
      400,
      'FAILED_PRECONDITION',
      'Gemini API free tier is not available in your country. Please enable billing on your project in Google AI Studio.',
    ),
  }),
  row('unauthenticated', '401', 'credentials', { reply: { status: 401, body: {} } }),
  row('payment', '402', 'credentials', { reply: { status: 402, body: {} } }),
  row('forbidden', '403 PERMISSION_DENIED', 'credentials', {
    reply: refused(403, 'PERMISSION_DENIED', "Your API key doesn't have the required permissions."),
  }),
  row('model-missing', '404 NOT_FOUND', 'credentials', {
    reply: refused(
      404,
      'NOT_FOUND',
      'models/gemini-3.1-flash-image is not found for API version v1beta, or is not supported for generateContent.',
    ),
  }),
  row('no-picture', 'a text in place of the picture', 'rendered', {
    ends: 'InternalFailure',
    reply: imageAnswer(Buffer.from('<html>').toString('base64')),
  }),
  row('other-refusal', '400 INVALID_ARGUMENT about a field that Darkroom sends', 'unknown_answer', {
    reply: refused(400, 'INVALID_ARGUMENT', 'Request contains an invalid argument.'),
  }),
  row('other-finish', 'an unexpected finishReason', 'unknown_answer', {
    reply: finished('MAX_TOKENS', 'The maximum number of tokens was reached.'),
  }),
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

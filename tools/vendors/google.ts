/**
 * The Gemini API's generateContent as far as its image models use it: what the real one refuses is
 * refused here, with its documented status. https://ai.google.dev/api/generate-content (read 2026-11-21)
 */
import { readFileSync } from 'node:fs';
import { readImageHeader } from '../../core/image-bytes.ts';
import type { AspectRatio, Resolution } from '../../core/image-formats.ts';
import type { RefusalReason } from '../../core/provider.ts';
import {
  rowOf,
  startFakeVendor,
  type FakeVendor,
  type Received,
  type Reply,
  type VendorRow,
} from './fake-vendor.ts';
import { pictureOf } from './pictures.ts';

export interface GoogleRow extends VendorRow {
  /** What the adapter makes of it. */
  readonly answers: RefusalReason | 'rendered';
  /** Absent: a picture is rendered. The body of a number alone is recorded under tools/vendors/answers/google/. */
  readonly reply?: number | Reply;
}

const imageAnswer = (data: string): Reply => ({
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
    usageMetadata: { promptTokenCount: 12, candidatesTokenCount: 1120, totalTokenCount: 1132 },
    modelVersion: 'gemini-3.1-flash-image',
    responseId: '0123456789',
  },
});

export const googleRows: readonly GoogleRow[] = [
  { row: 'success', says: 'a picture', answers: 'rendered', ends: 'completed' },
  {
    row: 'sources',
    says: 'a picture made of two others',
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
    says: 'finishReason STOP with a text alone',
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
    says: '502 of a proxy in between',
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
    says: 'a text where the picture should be',
    answers: 'rendered',
    ends: 'InternalFailure',
    reply: imageAnswer(Buffer.from('<html>').toString('base64')),
  },
  {
    row: 'other-refusal',
    says: '400 INVALID_ARGUMENT about something that is ours',
    answers: 'unknown_answer',
    ends: 'InternalFailure',
    reply: 400,
  },
  {
    row: 'other-finish',
    says: 'a finishReason that is not expected here',
    answers: 'unknown_answer',
    ends: 'InternalFailure',
    reply: 200,
  },
  {
    row: 'unknown-shape',
    says: '200 of another shape',
    answers: 'unknown_answer',
    ends: 'InternalFailure',
    reply: { status: 200, body: { output: ['?'] } },
  },
  {
    row: 'redirect',
    says: '302 to elsewhere',
    answers: 'unknown_answer',
    ends: 'InternalFailure',
    reply: { status: 302, headers: { location: 'https://elsewhere.test/' } },
  },
  {
    row: 'break',
    says: 'a connection cut behind the request',
    answers: 'unknown_outcome',
    ends: 'InternalFailure',
    reply: { status: 'break' },
  },
];

/** Width and height at 1K; 2K and 4K are two and four times as large. https://ai.google.dev/gemini-api/docs/image-generation */
const pixels: Readonly<Record<AspectRatio, readonly [number, number]>> = {
  '1:1': [1024, 1024],
  '3:2': [1264, 848],
  '2:3': [848, 1264],
  '4:3': [1200, 896],
  '3:4': [896, 1200],
  '5:4': [1152, 928],
  '4:5': [928, 1152],
  '16:9': [1376, 768],
  '9:16': [768, 1376],
  '21:9': [1584, 672],
};
const times: Readonly<Record<Resolution, number>> = { '1K': 1, '2K': 2, '4K': 4 };
const models = ['gemini-3.1-flash-image', 'gemini-3-pro-image'];

export const fakeGoogleKey = 'fake-google-key';

export async function startFakeGoogle(): Promise<FakeVendor> {
  return startFakeVendor((request) => {
    const { method, path, headers } = request;
    const key = headers['x-goog-api-key'];
    if (key === undefined)
      return refused(403, 'PERMISSION_DENIED', "Method doesn't allow unregistered callers.");
    if (key !== fakeGoogleKey) return { status: 400, body: recorded('key-refused') };
    if (method === 'GET' && path.startsWith('/v1beta/models?'))
      return { status: 200, body: { models: models.map((name) => ({ name: `models/${name}` })) } };
    const model = /^\/v1beta\/models\/([^/:]+):generateContent$/.exec(path)?.[1] ?? '';
    if (method !== 'POST' || !models.includes(model))
      return refused(404, 'NOT_FOUND', `models/${model} is not found for API version v1beta`);
    return refusalOf(request) ?? answerTo(request.json as GenerateContent);
  });
}

interface Part {
  readonly text?: string;
  readonly inlineData?: { readonly mimeType: string; readonly data: string };
}

interface GenerateContent {
  readonly contents: readonly { readonly parts: readonly Part[] }[];
  readonly generationConfig: {
    readonly imageConfig: { readonly aspectRatio: AspectRatio; readonly imageSize: Resolution };
  };
}

function refused(code: number, status: string, message: string): Reply {
  return { status: code, body: { error: { code, message, status } } };
}

/** The fields that are known at each place. */
const knownFields: readonly (readonly [place: readonly string[], fields: readonly string[]])[] = [
  [[], ['contents', 'generationConfig', 'safetySettings', 'systemInstruction', 'tools']],
  [
    ['generationConfig'],
    [
      'responseModalities',
      'imageConfig',
      'responseFormat',
      'seed',
      'temperature',
      'topP',
      'topK',
      'candidateCount',
      'thinkingConfig',
    ],
  ],
  [
    ['generationConfig', 'imageConfig'],
    ['aspectRatio', 'imageSize'],
  ],
  [
    ['generationConfig', 'responseFormat', 'image'],
    ['mimeType', 'aspectRatio', 'imageSize', 'delivery'],
  ],
];

function refusalOf({ headers, json }: Received): Reply | undefined {
  const invalid = (message: string): Reply => refused(400, 'INVALID_ARGUMENT', message);
  if (!(headers['content-type'] ?? '').startsWith('application/json') || json === undefined)
    return invalid('Invalid JSON payload received.');
  for (const [place, fields] of knownFields) {
    const unknown = Object.keys(at(json, place) ?? {}).find((field) => !fields.includes(field));
    if (unknown !== undefined)
      return invalid(
        `Invalid JSON payload received. Unknown name "${unknown}" at '${place.join('.')}': Cannot find field.`,
      );
  }
  const { aspectRatio, imageSize } = (at(json, ['generationConfig', 'imageConfig']) ?? {}) as Record<
    string,
    string | undefined
  >;
  if (aspectRatio !== undefined && !(aspectRatio in pixels))
    return invalid('Request contains an invalid argument.');
  if (imageSize !== undefined && !(imageSize in times))
    return invalid('Request contains an invalid argument.');
  const mimeType = at(json, ['generationConfig', 'responseFormat', 'image', 'mimeType']);
  if (mimeType !== undefined && mimeType !== 'IMAGE_JPEG')
    return invalid(`Invalid value at 'generation_config.response_format.image.mime_type'`);
  return refusalOfParts((json as GenerateContent).contents[0]?.parts ?? [], invalid);
}

function refusalOfParts(parts: readonly Part[], invalid: (message: string) => Reply): Reply | undefined {
  if (
    parts.length === 0 ||
    parts.some(({ text, inlineData }) => text === '' || (text === undefined && inlineData === undefined))
  ) {
    return invalid('Unable to submit request because it must have a text parameter.');
  }
  const images = parts.flatMap(({ inlineData }) => (inlineData ? [inlineData] : []));
  if (images.length > 14) return invalid('Please use fewer than 15 images in your request.');
  const headers = images.map(({ mimeType, data }) => ({
    mimeType,
    header: readImageHeader(Buffer.from(data, 'base64')),
  }));
  if (headers.some(({ header }) => header === undefined)) return invalid('Unable to process input image.');
  const wrong = headers.find(({ mimeType, header }) => header?.contentType !== mimeType)?.header;
  return wrong ? invalid(`Unhandled generated data mime type: ${wrong.contentType}`) : undefined;
}

function at(value: unknown, place: readonly string[]): unknown {
  return place.reduce<unknown>(
    (inner, field) => (inner as Record<string, unknown> | undefined)?.[field],
    value,
  );
}

function answerTo({ contents, generationConfig: { imageConfig } }: GenerateContent): Reply {
  const text = contents[0]?.parts.find((part) => part.text !== undefined)?.text;
  const row = googleRows.find((candidate) => candidate.row === rowOf(text));
  if (typeof row?.reply === 'number') return { status: row.reply, body: recorded(row.row) };
  if (row?.reply !== undefined) return row.reply;
  const [width, height] = pixels[imageConfig.aspectRatio].map((edge) => edge * times[imageConfig.imageSize]);
  return imageAnswer(pictureOf('jpeg', width ?? 0, height ?? 0).toString('base64'));
}

function recorded(row: string): object {
  return JSON.parse(readFileSync(new URL(`./answers/google/${row}.json`, import.meta.url), 'utf8')) as object;
}

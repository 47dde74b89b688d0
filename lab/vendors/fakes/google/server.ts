/**
 * The fake of the Gemini API's generateContent, as far as image models use it. The fake refuses what Google
 * refuses, with the documented status. https://ai.google.dev/api/generate-content (read 2026-11-21)
 */
import * as z from 'zod';
import {
  type AspectRatio,
  aspectRatios,
  type Resolution,
  resolutions,
} from '../../../../service/contract/request-fields.ts';
import { readImageHeader } from '../../../../service/values/image-bytes.ts';
import { commonShape, type Fake, onlyJpeg, plainFields } from '../facts.ts';
import {
  type FakeVendor,
  fieldsOf,
  type Paint,
  pictureOf,
  type Received,
  type Reply,
  rowOf,
  startFakeVendor,
} from '../fake-vendor.ts';
import { googleRows, imageAnswer, keyRefused, refused } from './rows.ts';

/**
 * Width and height at 1K. At 2K, both are twice as large; at 4K, four times.
 * https://ai.google.dev/gemini-api/docs/image-generation
 */
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
/**
 * The sizes of each model. Nano Banana 2.1 and the Lite model: the changelog of the Gemini API and
 * docs.laozhang.ai, which calls them (both read 2026-11-22).
 */
const sizesOf: Readonly<Record<string, readonly Resolution[]>> = {
  'gemini-nano-banana-2.1': resolutions,
  'gemini-3.1-flash-image': resolutions,
  'gemini-3.1-flash-lite-image': ['1K'],
  'gemini-3-pro-image': resolutions,
};
const models = Object.keys(sizesOf);

export const fakeGoogleKey = 'fake-google-key';

export async function startFakeGoogle(paint: Paint = pictureOf): Promise<FakeVendor> {
  return startFakeVendor((request) => {
    const { method, path, headers } = request;
    const key = headers['x-goog-api-key'];
    if (key === undefined)
      return refused(403, 'PERMISSION_DENIED', "Method doesn't allow unregistered callers.");
    if (key !== fakeGoogleKey) return keyRefused;
    if (method === 'GET' && path.startsWith('/v1beta/models?'))
      return { status: 200, body: { models: models.map((name) => ({ name: `models/${name}` })) } };
    const model = /^\/v1beta\/models\/([^/:]+):generateContent$/.exec(path)?.[1] ?? '';
    if (method !== 'POST' || !models.includes(model))
      return refused(404, 'NOT_FOUND', `models/${model} is not found for API version v1beta`);
    return refusalOf(request, sizesOf[model] ?? []) ?? answerTo(requestSchema.parse(request.json), paint);
  });
}

const contentsSchema = z.array(
  z.object({
    parts: z.array(
      z.object({
        text: z.string().optional(),
        inlineData: z.object({ mimeType: z.string(), data: z.string() }).optional(),
      }),
    ),
  }),
);
const requestSchema = z.object({
  contents: contentsSchema,
  generationConfig: z.object({
    imageConfig: z.object({ aspectRatio: z.enum(aspectRatios), imageSize: z.enum(resolutions) }),
  }),
});
type Part = z.infer<typeof contentsSchema>[number]['parts'][number];

/** The fields that Google knows in each part of the request, by its path. */
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

function refusalOf({ headers, json }: Received, sizes: readonly Resolution[]): Reply | undefined {
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
  const { aspectRatio, imageSize } = fieldsOf(at(json, ['generationConfig', 'imageConfig']));
  if (!isKnown(aspectRatio, aspectRatios) || !isKnown(imageSize, sizes))
    return invalid('Request contains an invalid argument.');
  const mimeType = at(json, ['generationConfig', 'responseFormat', 'image', 'mimeType']);
  if (mimeType !== undefined && mimeType !== 'IMAGE_JPEG')
    return invalid(`Invalid value at 'generation_config.response_format.image.mime_type'`);
  const contents = contentsSchema.safeParse(at(json, ['contents']));
  return refusalOfParts(contents.data?.[0]?.parts ?? [], invalid);
}

function isKnown(value: unknown, known: readonly string[]): boolean {
  return value === undefined || known.some((one) => one === value);
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
  return place.reduce((inner, field) => fieldsOf(inner)[field], value);
}

function answerTo(
  { contents, generationConfig: { imageConfig } }: z.infer<typeof requestSchema>,
  paint: Paint,
): Reply {
  const text = contents[0]?.parts.find((part) => part.text !== undefined)?.text;
  const row = googleRows.find((candidate) => candidate.row === rowOf(text));
  if (row?.reply !== undefined) return row.reply;
  const [width, height] = pixels[imageConfig.aspectRatio].map((edge) => edge * times[imageConfig.imageSize]);
  return imageAnswer(paint('jpeg', width ?? 0, height ?? 0).toString('base64'));
}

export const fakeGoogle: Fake = {
  start: startFakeGoogle,
  rows: googleRows,
  key: fakeGoogleKey,
  model: 'gemini-nano-banana-2.1',
  ways: {
    ...commonShape,
    'refused prompt': 'prompt-blocked',
    'refused source': 'bad-source',
    'no picture': 'no-image',
    'timed out at the vendor': 'timed-out',
  },
  honours: { ...plainFields, background: onlyJpeg },
};

/**
 * The rules of the vendors that sell pictures in the common shape. service/vendors/compatible/styles.ts names the
 * pages that they are from.
 */
import type { CompatibleStyleName } from '../../../../service/catalog/providers.ts';
import type { OutputFormat } from '../../../../service/contract/request-fields.ts';
import { commonShape, type Honours, noSources, onlyJpeg, plainFields, type Ways } from '../facts.ts';
import { type Fields, fieldsOf, recordedAnswer, type Reply } from '../fake-vendor.ts';
import { commonRows, type CompatibleRow, row, sourceRows, throttledRow } from './rows.ts';

/** OpenAI has a fake of its own. */
export type FakeStyle = Exclude<CompatibleStyleName, 'openai'>;

/** Width and height. */
type Size = readonly [width: number, height: number];

export interface ServerRules {
  /** The name of the server in lab/vendors/answers/compatible.json. */
  readonly answers: string;
  /** The only key that the fake accepts. Null: it asks for none. */
  readonly key: string | null;
  readonly generations: string;
  /** Null: there is no call with source images. */
  readonly edits: string | null;
  readonly check: string;
  /** The fields of a request. A server that ignores other fields has no list. */
  readonly fields: readonly string[] | null;
  /** The values that a field may have. */
  readonly values: Readonly<Record<string, readonly unknown[]>>;
  /** The models, with the fields that a model does not take. */
  readonly models: Readonly<Record<string, readonly string[]>>;
  readonly mostPrompt: number;
  /** Undefined: the server refuses the size. */
  readonly sizeOf: (fields: Fields) => Size | undefined;
  readonly formatOf: (fields: Fields) => OutputFormat;
  /** How source images come: in parts of a form, or in a field of the JSON. */
  readonly sources: 'form' | ((fields: Fields) => readonly Buffer[] | undefined) | null;
  /** The names that the parts of the form may have. */
  readonly sourceParts: readonly string[];
  /** The name of the part with a mask. Absent: the server takes none. */
  readonly maskPart?: string;
  readonly mostSources: number;
  /** The server's words for a request that it does not take. */
  readonly refuse: (status: number, about: string) => Reply;
  /** Members of the answer beside the picture, such as the bill. */
  readonly more?: (fields: Fields) => Fields;
  readonly headers?: Readonly<Record<string, string>>;
  readonly rows: readonly CompatibleRow[];
  readonly ways: Ways;
  readonly honours: Honours;
}

/** A recorded answer with this status. */
export function recorded(answers: string, name: string, status: number): Reply {
  return { status, body: recordedAnswer(answers, name) };
}

/** "1360x768". Undefined: the text is no size, or has not this many pixels. */
export function pixelSize(size: unknown, [least, most]: readonly [number, number]): Size | undefined {
  const [, width = 0, height = 0] = (/^(\d+)x(\d+)$/.exec(String(size)) ?? []).map(Number);
  return width * height >= least && width * height <= most ? [width, height] : undefined;
}

/** The bytes of data URIs of pictures. Undefined when one of them is not a data URI. */
function bytesOfUris(uris: readonly unknown[]): readonly Buffer[] | undefined {
  const all = uris.map((uri) => /^data:image\/\w+;base64,(.+)$/.exec(String(uri))?.[1]);
  return all.every((base64) => base64 !== undefined)
    ? all.map((base64) => Buffer.from(base64, 'base64'))
    : undefined;
}

const sidesOfRatio: Readonly<Record<string, Size>> = {
  '1:1': [1024, 1024],
  '3:2': [1280, 832],
  '2:3': [832, 1280],
  '4:3': [1216, 896],
  '3:4': [896, 1216],
  '5:4': [1152, 896],
  '4:5': [896, 1152],
  '16:9': [1344, 768],
  '9:16': [768, 1344],
};

function sizeOfRatio(ratio: unknown, times: number): Size | undefined {
  const size = typeof ratio === 'string' ? sidesOfRatio[ratio] : undefined;
  return size && [size[0] * times, size[1] * times];
}

/** Ticks of a picture by model, quality and resolution. */
function ticksOf({ model, quality = 'medium', resolution = '1k' }: Fields): number {
  if (model === 'grok-imagine-image') return 200_000_000;
  return (quality === 'low' ? 400_000_000 : 600_000_000) + (resolution === '2k' ? 200_000_000 : 0);
}

export const xai: ServerRules = {
  answers: 'xai',
  key: 'fake-xai-key',
  generations: '/v1/images/generations',
  edits: '/v1/images/edits',
  check: '/v1/models',
  fields: [
    'model',
    'prompt',
    'n',
    'response_format',
    'aspect_ratio',
    'resolution',
    'quality',
    'user',
    'image',
    'images',
  ],
  values: {
    n: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
    response_format: ['url', 'b64_json'],
    resolution: ['1k', '2k'],
    quality: ['low', 'medium'],
    aspect_ratio: ['1:1', '3:2', '2:3', '4:3', '3:4', '16:9', '9:16', '2:1', '1:2', 'auto'],
  },
  models: { 'grok-imagine-image': ['quality'], 'grok-imagine-image-2.0': [] },
  mostPrompt: 5_000,
  sizeOf: ({ aspect_ratio: ratio, resolution }) => sizeOfRatio(ratio, resolution === '2k' ? 2 : 1),
  formatOf: () => 'jpeg',
  sources: ({ image, images }) => {
    const objects = Array.isArray(images) ? images.map(fieldsOf) : [fieldsOf(image)];
    return objects.every(({ type }) => type === 'image_url')
      ? bytesOfUris(objects.map(({ url }) => url))
      : undefined;
  },
  sourceParts: [],
  mostSources: 3,
  refuse: (status, about) => ({
    status,
    body: { code: 'Client specified an invalid argument', error: `Argument not supported: ${about}` },
  }),
  more: (fields) => ({ usage: { cost_in_usd_ticks: ticksOf(fields) } }),
  rows: [
    ...commonRows,
    throttledRow,
    row('moderated', '400 imagine:content-moderated', 'prompt', 400),
    row('moderated-text', '400 with the same words and an older code', 'prompt', 400),
    row('disrespected', '200 with respect_moderation false', 'prompt', 200),
    row('guidelines', '403 because the prompt violates the guidelines', 'prompt', 403),
    row('credits', '403 because no credits are left', 'credentials', 403),
    row('key-refused', '400 about the key', 'credentials', 400),
    row('model-missing', '404', 'credentials', 404),
    row('other-refusal', '400 about a field that Darkroom sends', 'unknown_answer', 400),
  ],
  ways: {
    ...commonShape,
    'refused prompt': 'moderated',
    'refused source': {
      cannot: 'Not verified: how xAI refuses a source image. Its answer about the field raises an alarm.',
    },
    'out of credit': 'credits',
  },
  honours: { ...plainFields, quality: 'honoured', background: onlyJpeg },
};

const unitsOf: Readonly<Record<string, number>> = {
  recraftv4_1_flash: 7,
  recraftv4_1: 35,
  recraftv4_1_pro: 210,
};

export const recraft: ServerRules = {
  answers: 'recraft',
  key: 'fake-recraft-key',
  generations: '/v1/images/generations',
  edits: null,
  check: '/v1/users/me',
  fields: ['model', 'prompt', 'n', 'size', 'response_format', 'image_format'],
  values: { n: [1, 2, 3, 4, 5, 6], response_format: ['url', 'b64_json'], image_format: ['png', 'webp'] },
  models: { recraftv4_1_flash: [], recraftv4_1: [], recraftv4_1_pro: [] },
  mostPrompt: 10_000,
  sizeOf: ({ size, model }) => sizeOfRatio(size, model === 'recraftv4_1_pro' ? 2 : 1),
  formatOf: ({ image_format: format }) => (format === 'webp' ? 'webp' : 'png'),
  sources: null,
  sourceParts: [],
  mostSources: 0,
  refuse: (status, about) => ({
    status,
    body: { code: 'invalid_request_parameter', message: `${about} is not supported` },
  }),
  more: ({ model }) => ({ credits: unitsOf[String(model)] }),
  rows: [
    ...commonRows,
    throttledRow,
    row('improper', '400 prompt_is_improper', 'prompt', 400),
    row('key-refused', '401', 'credentials', 401),
    row('credits', '400 not_enough_credits', 'credentials', 400),
    row('other-refusal', '400 about a field that Darkroom sends', 'unknown_answer', 400),
  ],
  ways: {
    ...commonShape,
    'refused prompt': 'improper',
    'refused source': noSources,
    'out of credit': 'credits',
  },
  honours: { ...plainFields, negative_prompt: { refused: 'Only models before V4 take one.' } },
};

const lessPixels = [3_686_400, 16_777_216] as const;
const pixelsOfSeedream: Readonly<Record<string, readonly [number, number]>> = {
  'seedream-4-5-251128': lessPixels,
  'seedream-5-0-lite-260128': lessPixels,
  'dola-seedream-5-0-pro-260628': [921_600, 4_624_220],
};

export const byteplus: ServerRules = {
  answers: 'byteplus',
  key: 'fake-byteplus-key',
  generations: '/api/v3/images/generations',
  edits: '/api/v3/images/generations',
  check: '/api/v3/models',
  fields: [
    'model',
    'prompt',
    'image',
    'size',
    'response_format',
    'watermark',
    'stream',
    'sequential_image_generation',
    'output_format',
  ],
  values: { response_format: ['url', 'b64_json'], watermark: [true, false], output_format: ['png', 'jpeg'] },
  models: {
    'seedream-4-5-251128': ['output_format'],
    'seedream-5-0-lite-260128': [],
    'dola-seedream-5-0-pro-260628': ['stream', 'sequential_image_generation'],
  },
  mostPrompt: 4_000,
  sizeOf: ({ size, model }) => pixelSize(size, pixelsOfSeedream[String(model)] ?? [0, 0]),
  formatOf: ({ output_format: format }) => (format === 'png' ? 'png' : 'jpeg'),
  sources: ({ image }) => bytesOfUris(Array.isArray(image) ? image : [image]),
  sourceParts: [],
  mostSources: 14,
  refuse: (status, about) => ({
    status,
    body: {
      error: {
        code: 'InvalidParameter',
        message: `The parameter \`${about}\` specified in the request is not valid.`,
        param: about,
        type: 'BadRequest',
      },
    },
  }),
  rows: [
    ...commonRows,
    ...sourceRows,
    throttledRow,
    row('overloaded', '429 ServerOverloaded', 'unavailable', 429),
    row('sensitive-text', '400 InputTextSensitiveContentDetected', 'prompt', 400),
    row('violence', '400 SensitiveContentDetected.Violence', 'prompt', 400),
    row('sensitive-output', '400 OutputImageSensitiveContentDetected', 'prompt', 400),
    row('error-in-success', '200 with the error of the picture', 'prompt', 200),
    row('sensitive-source', '400 InputImageSensitiveContentDetected', 'source_image', 400, 1),
    row('bad-source', '400 about the field image', 'source_image', 400, 1),
    row('key-refused', '401 AuthenticationError', 'credentials', 401),
    row('overdue', '403 AccountOverdueError', 'credentials', 403),
    row('model-closed', '404 ModelNotOpen', 'credentials', 404),
    row('limit-set', '429 SetLimitExceeded', 'credentials', 429),
    row('other-refusal', '400 about a field that Darkroom sends', 'unknown_answer', 400),
  ],
  ways: {
    ...commonShape,
    'refused prompt': 'sensitive-text',
    'refused source': 'bad-source',
    'out of credit': 'overdue',
  },
  honours: { ...plainFields, background: onlyJpeg },
};

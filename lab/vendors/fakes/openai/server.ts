/**
 * The fake of OpenAI's Images API, as far as its models of the catalog use it. The fake refuses what OpenAI
 * refuses, with the documented code. https://developers.openai.com/api/docs/guides/image-generation (read
 * 2026-11-21), and the types of the SDK openai 7.57.0 for the models and their qualities (read 2026-11-22)
 */
import * as z from 'zod';
import { readImageHeader } from '../../../../service/values/image-bytes.ts';
import { commonShape, type Fake, plainFields } from '../facts.ts';
import {
  type FakeVendor,
  type Fields,
  fieldsOf,
  type Paint,
  pictureOf,
  type Received,
  type Reply,
  rowOf,
  startFakeVendor,
  transparentOf,
} from '../fake-vendor.ts';
import { imageAnswer, openaiRows, refused } from './rows.ts';

export const fakeOpenaiKey = 'fake-openai-key';

export async function startFakeOpenai(paint: Paint = pictureOf): Promise<FakeVendor> {
  return startFakeVendor((request) => {
    const unauthorized = refusalOfKey(request);
    if (unauthorized) return unauthorized;
    if (request.path === '/v1/models' && request.method === 'GET')
      return {
        status: 200,
        body: { object: 'list', data: Object.keys(qualitiesOf).map((id) => ({ id, object: 'model' })) },
      };
    const isEdit = request.path === '/v1/images/edits';
    if (!isEdit && request.path !== '/v1/images/generations')
      return refused(404, null, null, `Invalid URL (${request.method} ${request.path})`);
    if (request.method !== 'POST')
      return refused(405, 'method_not_supported', null, `Not allowed to ${request.method}`);
    if (
      !(request.headers['content-type'] ?? '').startsWith(isEdit ? 'multipart/form-data' : 'application/json')
    ) {
      return refused(400, 'unsupported_content_type', null, 'Unsupported content type');
    }
    const sent = fieldsOf(request.json);
    if (!isEdit) return refusalOf(sent) ?? answerTo(sent, paint);
    const { fields, files } = formOf(request);
    // Every value of a form is text. OpenAI reads n as a number, and so does the fake.
    return (
      refusalOf({ ...fields, n: Number(fields['n'] ?? 1) }) ??
      refusalOfFiles(files) ??
      answerTo(fields, paint)
    );
  });
}

function refusalOfKey({ headers: { authorization } }: Received): Reply | undefined {
  if (authorization === undefined) return refused(401, null, null, "You didn't provide an API key.");
  return authorization === `Bearer ${fakeOpenaiKey}`
    ? undefined
    : refused(401, 'invalid_api_key', null, 'Incorrect API key provided');
}

const knownFields = [
  'model',
  'prompt',
  'n',
  'size',
  'quality',
  'output_format',
  'output_compression',
  'background',
  'moderation',
  'stream',
  'partial_images',
  'user',
];
/** The qualities of each model. Only the models of 2.5 and 2.6 have xhigh and max. */
const ladder = ['auto', 'low', 'medium', 'high'];
const longLadder = [...ladder, 'xhigh', 'max'];
const qualitiesOf: Readonly<Record<string, readonly string[]>> = {
  'gpt-image-2': ladder,
  'gpt-image-2.5-flare': longLadder,
  'gpt-image-2.5-sunburst': longLadder,
  'gpt-image-2.6-flare': longLadder,
  'gpt-image-2.6-sunburst': longLadder,
};
const valuesOf: Readonly<Record<string, readonly unknown[]>> = {
  model: Object.keys(qualitiesOf),
  n: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
  output_format: ['png', 'jpeg', 'webp'],
  background: ['auto', 'opaque', 'transparent'],
};

function refusalOf(fields: Fields): Reply | undefined {
  const unknown = Object.keys(fields).find((field) => !knownFields.includes(field));
  if (unknown !== undefined)
    return refused(400, 'unknown_parameter', unknown, `Unknown parameter: '${unknown}'.`);
  const { prompt, size } = fields;
  if (typeof prompt !== 'string' || prompt === '')
    return refused(400, 'missing_required_parameter', 'prompt', "Missing required parameter: 'prompt'.");
  if (prompt.length > 32_000)
    return refused(400, 'string_above_max_length', 'prompt', "Invalid 'prompt': string too long.");
  const wrong = Object.entries(valuesOf).find(
    ([field, values]) => field in fields && !values.includes(fields[field]),
  )?.[0];
  if (wrong !== undefined) return refused(400, 'invalid_value', wrong, `Invalid value: '${wrong}'.`);
  const { model = 'gpt-image-2', quality = 'auto', background } = fields;
  if (background === 'transparent' && (model === 'gpt-image-2' || fields['output_format'] === 'jpeg'))
    return refused(400, 'invalid_value', 'background', 'Transparent background is not supported.');
  if (qualitiesOf[String(model)]?.some((known) => known === quality) !== true)
    return refused(400, 'invalid_value', 'quality', `Invalid value: '${String(quality)}'.`);
  return size === undefined || size === 'auto' || isSize(size)
    ? undefined
    : refused(400, 'invalid_value', 'size', "Invalid 'size'.");
}

function isSize(size: unknown): boolean {
  if (typeof size !== 'string') return false;
  const [width = 0, height = 0] = /^\d+x\d+$/.test(size) ? size.split('x').map(Number) : [];
  const [short, long, pixels] = [Math.min(width, height), Math.max(width, height), width * height];
  return (
    width % 16 === 0 &&
    height % 16 === 0 &&
    long <= 3840 &&
    long <= 3 * short &&
    pixels >= 655_360 &&
    pixels <= 8_294_400
  );
}

function refusalOfFiles(files: readonly FormFile[]): Reply | undefined {
  const stranger = files.find(({ field }) => field !== 'image[]' && field !== 'image')?.field;
  if (stranger !== undefined)
    return refused(400, 'unknown_parameter', stranger, `Unknown parameter: '${stranger}'.`);
  if (files.length === 0)
    return refused(400, 'missing_required_parameter', 'image', "Missing required parameter: 'image'.");
  if (files.length > 16)
    return refused(400, 'array_above_max_length', 'image', "Invalid 'image': array too long.");
  const isBad = ({ type, bytes }: FormFile): boolean =>
    bytes.byteLength >= 50 * 1024 * 1024 || readImageHeader(bytes)?.contentType !== type;
  return files.some(isBad)
    ? refused(400, 'invalid_image_file', 'image', 'Invalid image file or mode.')
    : undefined;
}

const pictureSchema = z.object({
  output_format: z.enum(['png', 'jpeg', 'webp']).default('png'),
  size: z.string().default('1024x1024'),
  background: z.string().default('auto'),
});

function answerTo(fields: Fields, paint: Paint): Reply {
  const row = openaiRows.find((candidate) => candidate.row === rowOf(fields['prompt']));
  if (row?.reply !== undefined) return row.reply;
  const { output_format, size, background } = pictureSchema.parse(fields);
  const [width = 1024, height = 1024] = size.split('x').map(Number);
  const isCutOut = row?.row !== 'opaque-instead' && background === 'transparent';
  const brush = isCutOut || row?.row === 'transparent-instead' ? transparentOf : paint;
  return imageAnswer(brush(output_format, width, height).toString('base64'), row?.usage);
}

interface FormFile {
  readonly field: string;
  readonly name: string;
  readonly type: string;
  readonly bytes: Buffer;
}

interface SentForm {
  readonly fields: Readonly<Record<string, string>>;
  readonly files: readonly FormFile[];
}

/** Reads the parts of a multipart/form-data body (RFC 7578). */
export function formOf({ headers, body }: Received): SentForm {
  const boundary = /boundary=("?)([^";]+)\1/.exec(headers['content-type'] ?? '')?.[2] ?? '';
  // In Latin-1, each byte is one character, so that a part converts back to the same bytes.
  const parts = body.toString('latin1').split(`--${boundary}`).slice(1, -1).map(partOf);
  return {
    fields: Object.fromEntries(
      parts.filter(({ name }) => name === '').map(({ field, bytes }) => [field, bytes.toString('utf8')]),
    ),
    files: parts.filter(({ name }) => name !== ''),
  };
}

function partOf(part: string): FormFile {
  const end = part.indexOf('\r\n\r\n');
  const head = part.slice(0, end);
  const first = (pattern: RegExp): string => pattern.exec(head)?.[1] ?? '';
  return {
    field: first(/[; ]name="([^"]*)"/),
    name: first(/filename="([^"]*)"/),
    type: first(/content-type: *(\S+)/i),
    // The last two bytes are the line break that belongs to the next boundary.
    bytes: Buffer.from(part.slice(end + 4, -2), 'latin1'),
  };
}

export const fakeOpenai: Fake = {
  start: startFakeOpenai,
  rows: openaiRows,
  key: fakeOpenaiKey,
  model: 'gpt-image-2',
  ways: {
    ...commonShape,
    'refused prompt': 'moderation-input',
    'refused source': 'bad-source',
    'out of credit': 'quota',
  },
  honours: {
    ...plainFields,
    quality: 'honoured',
    background: 'honoured',
    mask_url: {
      refused: 'The vendor takes a mask as a hint and paints the whole picture anew, also what it protects.',
    },
  },
};

/**
 * OpenAI's Images API as far as gpt-image-2 uses it: what the real one refuses is refused here,
 * with its documented code. https://developers.openai.com/api/docs/guides/image-generation (read 2026-11-21)
 */
import { readFileSync } from 'node:fs';
import { readImageHeader } from '../../core/image-bytes.ts';
import type { OutputFormat } from '../../core/image-formats.ts';
import type { RefusalReason } from '../../core/provider.ts';
import {
  rowOf,
  startFakeVendor,
  type FakeVendor,
  type Received,
  type Reply,
  type VendorRow,
} from './fake-vendor.ts';
import { formOf, type FormFile } from './openai-form.ts';
import { pictureOf } from './pictures.ts';

export interface OpenaiRow extends VendorRow {
  /** What the adapter makes of it. */
  readonly answers: RefusalReason | 'rendered';
  /** Absent: a picture is rendered. The body of a number alone is recorded under tools/vendors/answers/openai/. */
  readonly reply?: number | Reply;
}

const imageAnswer = (b64_json: string): Reply => ({
  status: 200,
  body: { created: 1_795_219_200, data: [{ b64_json }] },
});

export const openaiRows: readonly OpenaiRow[] = [
  { row: 'success', says: 'a picture', answers: 'rendered', ends: 'completed' },
  {
    row: 'sources',
    says: 'a picture made of two others',
    answers: 'rendered',
    ends: 'completed',
    sources: 2,
  },
  {
    row: 'moderation-input',
    says: '400 moderation_blocked at the input',
    answers: 'prompt',
    ends: 'PromptRejected',
    reply: 400,
  },
  {
    row: 'moderation-output',
    says: '400 moderation_blocked at the output',
    answers: 'prompt',
    ends: 'PromptRejected',
    reply: 400,
  },
  {
    row: 'moderation-source',
    says: '400 moderation_blocked that names an image',
    answers: 'source_image',
    ends: 'SourceImageRejected',
    reply: 400,
    sources: 1,
  },
  {
    row: 'content-policy',
    says: '400 content_policy_violation',
    answers: 'prompt',
    ends: 'PromptRejected',
    reply: 400,
  },
  {
    row: 'bad-source',
    says: '400 invalid_image_file',
    answers: 'source_image',
    ends: 'SourceImageRejected',
    reply: 400,
    sources: 1,
  },
  {
    row: 'bad-source-field',
    says: '400 about the field image[0]',
    answers: 'source_image',
    ends: 'SourceImageRejected',
    reply: 400,
    sources: 1,
  },
  {
    row: 'bad-source-text',
    says: '400 "Invalid file \'image\'" without field or code',
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
    says: '429 rate_limit_exceeded',
    answers: 'unavailable',
    ends: 'ServiceUnavailable',
    reply: 429,
  },
  {
    row: 'quota',
    says: '429 insufficient_quota',
    answers: 'credentials',
    ends: 'ServiceUnavailable',
    reply: 429,
  },
  {
    row: 'billing-limit',
    says: '400 billing_hard_limit_reached',
    answers: 'credentials',
    ends: 'ServiceUnavailable',
    reply: 400,
  },
  {
    row: 'key-refused',
    says: '401 invalid_api_key',
    answers: 'credentials',
    ends: 'ServiceUnavailable',
    reply: 401,
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
    says: '403, the organization is not verified',
    answers: 'credentials',
    ends: 'ServiceUnavailable',
    reply: 403,
  },
  {
    row: 'model-missing',
    says: '404 model_not_found',
    answers: 'credentials',
    ends: 'ServiceUnavailable',
    reply: 404,
  },
  { row: 'down', says: '503 overloaded', answers: 'unavailable', ends: 'ServiceUnavailable', reply: 503 },
  { row: 'error', says: '500 server_error', answers: 'failed', ends: 'GenerationFailed', reply: 500 },
  {
    row: 'gateway',
    says: '502 of a proxy in between',
    answers: 'failed',
    ends: 'GenerationFailed',
    reply: { status: 502, body: '<html>502 Bad Gateway</html>' },
  },
  {
    row: 'empty',
    says: '200 without a picture',
    answers: 'nothing_rendered',
    ends: 'NothingRendered',
    reply: { status: 200, body: { created: 1_795_219_200, data: [] } },
  },
  {
    row: 'empty-picture',
    says: '200 with an empty picture',
    answers: 'nothing_rendered',
    ends: 'NothingRendered',
    reply: imageAnswer(''),
  },
  {
    row: 'no-picture',
    says: '200 with a text where the picture should be',
    answers: 'rendered',
    ends: 'InternalFailure',
    reply: imageAnswer(Buffer.from('<html>').toString('base64')),
  },
  {
    row: 'other-refusal',
    says: '400 about a field that is ours',
    answers: 'unknown_answer',
    ends: 'InternalFailure',
    reply: 400,
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

export const fakeOpenaiKey = 'fake-openai-key';

export async function startFakeOpenai(): Promise<FakeVendor> {
  return startFakeVendor((request) => {
    const unauthorized = refusalOfKey(request);
    if (unauthorized) return unauthorized;
    if (request.path === '/v1/models' && request.method === 'GET')
      return { status: 200, body: { object: 'list', data: [{ id: 'gpt-image-2', object: 'model' }] } };
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
    if (!isEdit) return refusalOf(request.json as Fields) ?? answerTo(request.json as Fields);
    const { fields, files } = formOf(request);
    // A form has texts alone; the number is read as one, as the vendor does.
    return refusalOf({ ...fields, n: Number(fields['n'] ?? 1) }) ?? refusalOfFiles(files) ?? answerTo(fields);
  });
}

function refusalOfKey({ headers: { authorization } }: Received): Reply | undefined {
  if (authorization === undefined) return refused(401, null, null, "You didn't provide an API key.");
  return authorization === `Bearer ${fakeOpenaiKey}`
    ? undefined
    : refused(401, 'invalid_api_key', null, 'Incorrect API key provided');
}

function refused(status: number, code: string | null, param: string | null, message: string): Reply {
  return { status, body: { error: { message, type: 'invalid_request_error', param, code } } };
}

type Fields = Readonly<Record<string, unknown>>;

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
const valuesOf: Readonly<Record<string, readonly unknown[]>> = {
  model: ['gpt-image-2'],
  n: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
  quality: ['low', 'medium', 'high', 'auto'],
  output_format: ['png', 'jpeg', 'webp'],
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

function answerTo(fields: Fields): Reply {
  const row = openaiRows.find((candidate) => candidate.row === rowOf(fields['prompt']));
  if (typeof row?.reply === 'number') return { status: row.reply, body: recorded(row.row) };
  if (row?.reply !== undefined) return row.reply;
  const { output_format = 'png', size = '1024x1024' } = fields as {
    output_format?: OutputFormat;
    size?: string;
  };
  const [width = 1024, height = 1024] = size.split('x').map(Number);
  return imageAnswer(pictureOf(output_format, width, height).toString('base64'));
}

function recorded(row: string): object {
  return JSON.parse(readFileSync(new URL(`./answers/openai/${row}.json`, import.meta.url), 'utf8')) as object;
}

/**
 * The fake of Alibaba Model Studio's native protocol (DashScope), as far as Qwen-Image 3.0 uses it. The fake
 * refuses what the vendor refuses, with the documented status and code.
 * https://www.alibabacloud.com/help/en/model-studio/qwen-image-generation-and-editing-api-reference (2026-10-12)
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
  reply,
  type Reply,
  rowOf,
  startFakeVendor,
} from '../fake-vendor.ts';
import { alibabaRows, badSource, refused, requestId } from './rows.ts';

export const fakeAlibabaKey = 'fake-alibaba-key';

const models = ['qwen-image-3.0', 'qwen-image-3.0-pro'];
const knownParameters = [
  'n',
  'size',
  'negative_prompt',
  'prompt_extend',
  'prompt_extend_mode',
  'enable_thinking',
  'watermark',
  'seed',
];
const mostSources = 3;
const mostSourceBytes = 10 * 1024 * 1024;

interface Picture {
  readonly row: string;
  readonly size: string;
  downloads: number;
}

export async function startFakeAlibaba(
  paint: Paint = pictureOf,
): Promise<FakeVendor & { renderings(): number }> {
  const pictures: Picture[] = [];
  const vendor = await startFakeVendor((request, origin) => {
    const { method, path, headers } = request;
    if (method === 'GET' && path.startsWith('/pictures/')) return deliver(request, pictures, paint);
    if (headers['authorization'] === undefined) return refused(401, 'InvalidApiKey', 'No API-key provided.');
    if (headers['authorization'] !== `Bearer ${fakeAlibabaKey}`)
      return refused(401, 'InvalidApiKey', 'Invalid API-key provided.');
    if (method === 'GET' && path === '/compatible-mode/v1/models')
      return reply(200, { object: 'list', data: models.map((id) => ({ id, object: 'model' })) });
    if (path !== '/api/v1/services/aigc/multimodal-generation/generation')
      return refused(404, 'NotFound', 'The request path was not found.');
    if (method !== 'POST') return refused(405, 'InvalidRequestMethod', `${method} is not supported.`);
    return refusalOf(request) ?? answerTo(requestSchema.parse(request.json), pictures, origin);
  });
  return { ...vendor, renderings: () => pictures.length };
}

function refusalOf({ headers, json }: Received): Reply | undefined {
  const invalid = (message: string): Reply => refused(400, 'InvalidParameter', message);
  if (headers['x-dashscope-async'] !== undefined)
    return refused(403, 'AccessDenied', 'current user api does not support asynchronous calls.');
  if (!(headers['content-type'] ?? '').startsWith('application/json') || json === undefined)
    return invalid('Request body format invalid');
  const { model, input, parameters, ...others } = fieldsOf(json);
  if (Object.keys(others).length > 0) return invalid('Unknown field.');
  if (typeof model !== 'string' || !models.includes(model))
    return refused(404, 'ModelNotFound', 'The model does not exist.');
  const wrong = wrongParameter(fieldsOf(parameters));
  if (wrong !== undefined) return invalid(`parameters.${wrong} is invalid.`);
  return refusalOfInput(fieldsOf(input), invalid);
}

function wrongParameter(parameters: Fields): string | undefined {
  const unknown = Object.keys(parameters).find((name) => !knownParameters.includes(name));
  if (unknown !== undefined) return unknown;
  const { n = 1, size, seed = 0, prompt_extend: extend = true, watermark = false } = parameters;
  if (![1, 2, 3, 4, 5, 6].includes(Number(n))) return 'n';
  if (size !== undefined && !isSize(size)) return 'size';
  if (!Number.isInteger(seed) || Number(seed) < 0 || Number(seed) > 2_147_483_647) return 'seed';
  if (typeof extend !== 'boolean') return 'prompt_extend';
  const { negative_prompt: negative = '' } = parameters;
  if (typeof negative !== 'string' || negative.length > 500) return 'negative_prompt';
  return typeof watermark === 'boolean' ? undefined : 'watermark';
}

function isSize(size: unknown): boolean {
  if (typeof size !== 'string' || !/^\d+\*\d+$/.test(size)) return false;
  const [width = 0, height = 0] = size.split('*').map(Number);
  const pixels = width * height;
  return (
    pixels >= 512 * 512 && pixels <= 2048 * 2048 && Math.max(width, height) <= 8 * Math.min(width, height)
  );
}

function refusalOfInput({ messages }: Fields, invalid: (message: string) => Reply): Reply | undefined {
  const [message, ...more] = z.array(z.unknown()).catch([]).parse(messages);
  const { role, content } = fieldsOf(message);
  if (more.length > 0 || role !== 'user') return invalid('messages must hold one message of the user.');
  const parts = (Array.isArray(content) ? content : []).map(fieldsOf);
  const texts = parts.flatMap(({ text }) => (text === undefined ? [] : [text]));
  if (texts.length !== 1 || typeof texts[0] !== 'string' || texts[0] === '')
    return invalid('content must hold exactly one text.');
  const images = parts.flatMap(({ image }) => (image === undefined ? [] : [image]));
  if (images.length > mostSources) return invalid('content holds too many images.');
  return images.every(isSource) ? undefined : badSource;
}

function isSource(image: unknown): boolean {
  const [, type, data = ''] = /^data:(image\/\w+);base64,(.*)$/.exec(String(image)) ?? [];
  const bytes = Buffer.from(data, 'base64');
  return bytes.byteLength <= mostSourceBytes && readImageHeader(bytes)?.contentType === type;
}

/** What the fake reads of a request that it has not refused. */
const requestSchema = z.object({
  input: z.object({
    messages: z.array(z.object({ content: z.array(z.object({ text: z.string().optional() })) })),
  }),
  parameters: z.object({ size: z.string().default('1024*1024') }),
});

function answerTo(
  { input, parameters }: z.infer<typeof requestSchema>,
  pictures: Picture[],
  origin: string,
): Reply {
  const text = input.messages[0]?.content.find((part) => part.text !== undefined)?.text;
  const row = alibabaRows.find((candidate) => candidate.row === rowOf(text));
  if (row?.reply !== undefined) return row.reply;
  pictures.push({ row: row?.row ?? '', size: parameters.size, downloads: 0 });
  const address = `${origin}/pictures/${pictures.length}.png?Expires=1795478400&OSSAccessKeyId=fake&Signature=fake`;
  return reply(200, {
    output: {
      choices: [
        {
          finish_reason: 'stop',
          message: { content: [{ image: address, type: 'image' }], role: 'assistant' },
        },
      ],
      rewrite_status: 'success',
    },
    usage: {
      input_image_count: 0,
      input_image_type: 'qima_input_1k',
      output_height: 1024,
      output_image_count: 1,
      output_image_type: 'qima_output_1k',
      output_width: 1024,
    },
    request_id: requestId,
  });
}

/** The storage refuses a request that is signed in its address and has an authorization as well. */
function deliver({ path, headers }: Received, pictures: readonly Picture[], paint: Paint): Reply {
  if (headers['authorization'] !== undefined)
    return { status: 400, body: '<Error><Code>InvalidArgument</Code></Error>' };
  const picture = pictures[Number(/^\/pictures\/(\d+)\.png\?/.exec(path)?.[1]) - 1];
  if (!picture) return { status: 404, body: '<Error><Code>NoSuchKey</Code></Error>' };
  const reply = alibabaRows.find(({ row }) => row === picture.row)?.downloads?.[picture.downloads];
  picture.downloads += 1;
  if (reply) return reply;
  const [width = 0, height = 0] = picture.size.split('*').map(Number);
  return { status: 200, headers: { 'content-type': 'image/png' }, body: paint('png', width, height) };
}

export const fakeAlibaba: Fake = {
  start: startFakeAlibaba,
  rows: alibabaRows,
  key: fakeAlibabaKey,
  model: 'qwen-image-3.0',
  ways: {
    ...commonShape,
    'refused prompt': 'inspection-input',
    'refused source': 'bad-source',
    'out of credit': 'arrearage',
    'moved elsewhere': 'foreign-picture',
    'timed out at the vendor': 'timed-out',
    'download broken': 'download-broke',
  },
  honours: { ...plainFields, negative_prompt: 'honoured' },
};

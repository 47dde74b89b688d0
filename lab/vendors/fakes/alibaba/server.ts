/**
 * The fake of Alibaba Model Studio's native protocol (DashScope), as far as Qwen-Image 3.0 uses it. The fake
 * refuses what the vendor refuses, with the documented status and code.
 * https://www.alibabacloud.com/help/en/model-studio/qwen-image-generation-and-editing-api-reference (2026-10-12)
 */
import * as z from 'zod';
import { readImageHeader } from '../../../../service/values/image-bytes.ts';
import { commonShape, type Fake, plainFields } from '../facts.ts';
import {
  type AnsweredRow,
  type FakeVendor,
  type Fields,
  fieldsOf,
  type Paint,
  pictureOf,
  type Received,
  recordedAnswer,
  reply,
  type Reply,
  row,
  rowOf,
  startFakeVendor,
} from '../fake-vendor.ts';

interface AlibabaRow extends AnsweredRow {
  /**
   * The answer to the submission. Absent: the fake renders a picture. A number is the status of a recorded answer,
   * whose body stands in lab/vendors/answers/alibaba.json.
   */
  readonly reply?: number | Reply;
  /** The answers to the downloads in turn, before the picture. */
  readonly downloads?: readonly Reply[];
}

const elsewhere: Reply = { status: 302, headers: { location: 'https://elsewhere.test/' } };

function choosing(...choices: readonly object[]): Reply {
  return reply(200, { output: { choices } });
}

const alibabaRows: readonly AlibabaRow[] = [
  row('success', 'the address of a picture', 'rendered'),
  row('sources', 'a picture made from two source images', 'rendered', { sources: 2 }),
  row('inspection-input', '400 DataInspectionFailed at the input', 'prompt', { reply: 400 }),
  row('inspection-output', '400 DataInspectionFailed at the output', 'prompt', { reply: 400 }),
  row('infringement', '400 IPInfringementSuspect', 'prompt', { reply: 400 }),
  row('bad-source', '400 InvalidParameter.DataInspection', 'source_image', { sources: 1, reply: 400 }),
  row('too-large', '413', 'source_image', {
    sources: 1,
    reply: reply(413, '<html>413 Request Entity Too Large</html>'),
  }),
  row('throttled', '429 Throttling.RateQuota', 'unavailable', { reply: 429 }),
  row('quota', '429 Throttling.AllocationQuota', 'unavailable', { reply: 429 }),
  row('arrearage', '400 Arrearage', 'credentials', { reply: 400 }),
  row('free-tier', '403 AllocationQuota.FreeTierOnly', 'credentials', { reply: 403 }),
  row('key-refused', '401 InvalidApiKey', 'credentials', { reply: 401 }),
  row('payment', '402', 'credentials', { reply: { status: 402, body: {} } }),
  row('forbidden', '403 AccessDenied.Unpurchased', 'credentials', { reply: 403 }),
  row('model-missing', '404 ModelNotFound', 'credentials', { reply: 404 }),
  row('down', '503 ServiceUnavailable', 'unavailable', { reply: 503 }),
  row('error', '500 InternalError.Algo', 'failed', { reply: 500 }),
  row('timed-out', '500 InternalError.Timeout', 'timed_out', { reply: 500 }),
  row('gateway-late', '504 of a proxy on the way', 'timed_out', {
    reply: reply(504, '<html>504 Gateway Timeout</html>'),
  }),
  row('gateway', '502 of a proxy on the way', 'failed', {
    reply: reply(502, '<html>502 Bad Gateway</html>'),
  }),
  row('error-in-success', '200 with the code of an error', 'unknown_answer', { reply: 200 }),
  row('empty', '200 without a choice', 'nothing_rendered', {
    reply: choosing(),
  }),
  row('text-only', '200 with a text in place of the picture', 'nothing_rendered', {
    reply: choosing({ finish_reason: 'stop', message: { content: [{ text: 'No.' }] } }),
  }),
  row('empty-picture', 'a picture of no bytes', 'nothing_rendered', {
    downloads: [reply(200, '')],
  }),
  row('no-picture', 'a page in place of the picture', 'rendered', {
    ends: 'InternalFailure',
    downloads: [reply(200, '<html>')],
  }),
  row('other-refusal', '400 InvalidParameter', 'unknown_answer', { reply: 400 }),
  row('unknown-shape', '200 with a body of another shape', 'unknown_answer', {
    reply: reply(200, { data: ['?'] }),
  }),
  row('foreign-picture', 'a picture on another host', 'unknown_answer', {
    reply: choosing({
      message: { content: [{ image: 'https://oss-accelerate.aliyuncs.com.example.com/a.png' }] },
    }),
  }),
  row('picture-expired', '403 in place of the picture', 'unknown_answer', {
    downloads: [reply(403, '<Error><Code>AccessDenied</Code></Error>')],
  }),
  row('picture-moved', '302 in place of the picture', 'unknown_answer', {
    downloads: [elsewhere],
  }),
  row('redirect', '302 to another host', 'unknown_answer', {
    reply: elsewhere,
  }),
  row('break', 'a connection that is closed after the request', 'unknown_outcome', {
    reply: { status: 'break' },
  }),
  row('download-broke', 'the connection of the first download is closed', 'rendered', {
    downloads: [{ status: 'break' }],
  }),
  row('download-down', '503 to the first download', 'rendered', { downloads: [{ status: 503 }] }),
];

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
      return reply(401, recordedAnswer('alibaba', 'key-refused'));
    if (method === 'GET' && path === '/compatible-mode/v1/models')
      return reply(200, { object: 'list', data: models.map((id) => ({ id, object: 'model' })) });
    if (path !== '/api/v1/services/aigc/multimodal-generation/generation')
      return refused(404, 'NotFound', 'The request path was not found.');
    if (method !== 'POST') return refused(405, 'InvalidRequestMethod', `${method} is not supported.`);
    return refusalOf(request) ?? answerTo(requestSchema.parse(request.json), pictures, origin);
  });
  return { ...vendor, renderings: () => pictures.length };
}

function refused(status: number, code: string, message: string): Reply {
  return reply(status, { request_id: '3c5761be-2e87-94cd-bb3f-ed8251ad7f51', code, message });
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
  return images.every(isSource) ? undefined : reply(400, recordedAnswer('alibaba', 'bad-source'));
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
  if (typeof row?.reply === 'number') return { status: row.reply, body: recordedAnswer('alibaba', row.row) };
  if (row?.reply !== undefined) return row.reply;
  pictures.push({ row: row?.row ?? '', size: parameters.size, downloads: 0 });
  const address = `${origin}/pictures/${pictures.length}.png?Expires=1795478400&OSSAccessKeyId=fake&Signature=fake`;
  return { status: 200, body: recordedAnswer('alibaba', 'result', { address }) };
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

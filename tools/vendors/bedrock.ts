/**
 * Bedrock's InvokeModel with Stability's models: what AWS refuses is refused here, with its name in x-amzn-errortype;
 * the signature is verified. https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_InvokeModel.html (read 2026-11-21)
 */
import type { OutputFormat } from '../../core/image-formats.ts';
import type { RefusalReason } from '../../core/provider.ts';
import { wrongSignature, type AwsIdentity } from './bedrock-signature.ts';
import {
  rowOf,
  startFakeVendor,
  type FakeVendor,
  type Received,
  type Reply,
  type VendorRow,
} from './fake-vendor.ts';
import { pictureOf } from './pictures.ts';

export interface BedrockRow extends VendorRow {
  /** What the adapter makes of it. */
  readonly answers: RefusalReason | 'rendered';
  /** Absent: a picture is rendered. */
  readonly reply?: Reply;
}

function refused(status: number, type: string, message: string): Reply {
  return {
    status,
    headers: { 'x-amzn-errortype': `${type}:http://internal.amazon.com/coral/com.amazon.bedrock/` },
    body: { message },
  };
}

/** AWS's names of a failure that stand for themselves. */
function failing(
  row: string,
  status: number,
  type: string,
  answers: RefusalReason,
  ends: VendorRow['ends'],
): BedrockRow {
  return { row, says: `${status} ${type}`, answers, ends, reply: refused(status, type, 'A text of AWS.') };
}

const answered = (body: object): Reply => ({ status: 200, body });
const finished = (reason: string): Reply => answered({ finish_reasons: [reason] });

export const bedrockRows: readonly BedrockRow[] = [
  { row: 'success', says: 'a picture', answers: 'rendered', ends: 'completed' },
  {
    row: 'prompt-filter',
    says: 'Filter reason: prompt',
    answers: 'prompt',
    ends: 'PromptRejected',
    reply: finished('Filter reason: prompt'),
  },
  {
    row: 'output-filter',
    says: 'Filter reason: output image',
    answers: 'prompt',
    ends: 'PromptRejected',
    reply: finished('Filter reason: output image'),
  },
  {
    row: 'input-filter',
    says: 'Filter reason: input image',
    answers: 'source_image',
    ends: 'SourceImageRejected',
    reply: finished('Filter reason: input image'),
  },
  {
    row: 'inference-error',
    says: 'Inference error',
    answers: 'failed',
    ends: 'GenerationFailed',
    reply: finished('Inference error'),
  },
  {
    row: 'other-finish',
    says: 'a finish reason that is not known',
    answers: 'unknown_answer',
    ends: 'InternalFailure',
    reply: finished('Filter reason: something else'),
  },
  failing('throttled', 429, 'ThrottlingException', 'unavailable', 'ServiceUnavailable'),
  failing('not-ready', 429, 'ModelNotReadyException', 'unavailable', 'ServiceUnavailable'),
  failing('down', 503, 'ServiceUnavailableException', 'unavailable', 'ServiceUnavailable'),
  failing('quota', 400, 'ServiceQuotaExceededException', 'unavailable', 'ServiceUnavailable'),
  failing('timed-out', 408, 'ModelTimeoutException', 'timed_out', 'GenerationTimedOut'),
  failing('model-error', 424, 'ModelErrorException', 'failed', 'GenerationFailed'),
  failing('error', 500, 'InternalServerException', 'failed', 'GenerationFailed'),
  failing('access-denied', 403, 'AccessDeniedException', 'credentials', 'ServiceUnavailable'),
  failing('model-missing', 404, 'ResourceNotFoundException', 'credentials', 'ServiceUnavailable'),
  failing('unknown-client', 403, 'UnrecognizedClientException', 'credentials', 'ServiceUnavailable'),
  failing('expired', 403, 'ExpiredTokenException', 'credentials', 'ServiceUnavailable'),
  failing('expired-400', 400, 'ExpiredToken', 'credentials', 'ServiceUnavailable'),
  failing('internal-failure', 500, 'InternalFailure', 'failed', 'GenerationFailed'),
  {
    row: 'unauthenticated',
    says: '401 without a name',
    answers: 'credentials',
    ends: 'ServiceUnavailable',
    reply: { status: 401, body: {} },
  },
  {
    row: 'payment',
    says: '402 without a name',
    answers: 'credentials',
    ends: 'ServiceUnavailable',
    reply: { status: 402, body: {} },
  },
  {
    row: 'gateway',
    says: '503 of a proxy in between',
    answers: 'unavailable',
    ends: 'ServiceUnavailable',
    reply: { status: 503, body: '<html>503</html>' },
  },
  failing('other-refusal', 400, 'ValidationException', 'unknown_answer', 'InternalFailure'),
  {
    row: 'empty',
    says: 'no picture',
    answers: 'nothing_rendered',
    ends: 'NothingRendered',
    reply: answered({ seeds: [], finish_reasons: [null], images: [] }),
  },
  {
    row: 'empty-picture',
    says: 'an empty picture',
    answers: 'nothing_rendered',
    ends: 'NothingRendered',
    reply: answered({ seeds: [7], finish_reasons: [null], images: [''] }),
  },
  {
    row: 'no-picture',
    says: 'a text where the picture should be',
    answers: 'rendered',
    ends: 'InternalFailure',
    reply: answered({ seeds: [7], finish_reasons: [null], images: ['PGh0bWw+'] }),
  },
  {
    row: 'unknown-shape',
    says: '200 of another shape',
    answers: 'unknown_answer',
    ends: 'InternalFailure',
    reply: answered({ output: ['?'] }),
  },
  {
    row: 'no-json',
    says: '200 that is no JSON',
    answers: 'unknown_answer',
    ends: 'InternalFailure',
    reply: { status: 200, body: '<html>' },
  },
  {
    row: 'redirect',
    says: '302 to elsewhere',
    answers: 'unknown_answer',
    ends: 'InternalFailure',
    reply: { status: 302, headers: { location: 'https://elsewhere.test/' }, body: '{}' },
  },
  {
    row: 'break',
    says: 'a connection cut behind the request',
    answers: 'unknown_outcome',
    ends: 'InternalFailure',
    reply: { status: 'break' },
  },
];

/** Stability's sizes of about a megapixel. */
const pixels: Readonly<Record<string, readonly [number, number]>> = {
  '1:1': [1024, 1024],
  '3:2': [1216, 832],
  '2:3': [832, 1216],
  '5:4': [1088, 896],
  '4:5': [896, 1088],
  '16:9': [1344, 768],
  '9:16': [768, 1344],
  '21:9': [1536, 640],
  '9:21': [640, 1536],
};
const models = [
  'stability.stable-image-core-v1:1',
  'stability.stable-image-ultra-v1:1',
  'stability.sd3-5-large-v1:0',
];
const knownFields = ['prompt', 'mode', 'aspect_ratio', 'seed', 'output_format', 'negative_prompt'];

/** Whose signature the fake takes when nobody else is named. */
export const fakeBedrockIdentity: AwsIdentity = {
  accessKeyId: 'FAKEBEDROCKID',
  secretAccessKey: 'fake-bedrock-key',
  sessionToken: 'fake-bedrock-session',
};
const fakeBedrockRegion = 'us-west-2';

export async function startFakeBedrock(identity: AwsIdentity = fakeBedrockIdentity): Promise<FakeVendor> {
  return startFakeVendor((request) => {
    const { method, path, json } = request;
    const model = /^\/model\/([^/]+)\/invoke$/.exec(path)?.[1];
    if (method !== 'POST' || model === undefined)
      return refused(404, 'UnknownOperationException', 'The requested operation is not recognized.');
    const wrong = wrongSignature(request, fakeBedrockRegion, identity);
    if (wrong !== undefined)
      return refused(403, wrong, 'The security token included in the request is invalid.');
    if (!models.includes(decodeURIComponent(model)))
      return refused(400, 'ValidationException', 'The provided model identifier is invalid.');
    const invalid = invalidField(request);
    return invalid === undefined
      ? answerTo(json as Body)
      : refused(400, 'ValidationException', `Malformed input request: ${invalid}`);
  });
}

interface Body {
  readonly prompt: string;
  readonly aspect_ratio?: string;
  readonly output_format?: OutputFormat;
}

function invalidField({ headers, json }: Received): string | undefined {
  if (headers['content-type'] !== 'application/json' || typeof json !== 'object' || json === null)
    return 'not JSON';
  const body = json as Record<string, unknown>;
  const unknown = Object.keys(body).find((field) => !knownFields.includes(field));
  if (unknown !== undefined) return unknown;
  const { prompt, mode = 'text-to-image', aspect_ratio = '1:1', output_format = 'png', seed = 0 } = body;
  if (typeof prompt !== 'string' || prompt === '' || prompt.length > 10_000) return 'prompt';
  if (mode !== 'text-to-image') return 'mode';
  if (typeof aspect_ratio !== 'string' || !(aspect_ratio in pixels)) return 'aspect_ratio';
  if (output_format !== 'png' && output_format !== 'jpeg') return 'output_format';
  return typeof seed === 'number' && Number.isInteger(seed) && seed >= 0 && seed <= 4_294_967_295
    ? undefined
    : 'seed';
}

function answerTo({ prompt, aspect_ratio = '1:1', output_format = 'png' }: Body): Reply {
  const row = bedrockRows.find((candidate) => candidate.row === rowOf(prompt));
  if (row?.reply) return row.reply;
  const [width, height] = pixels[aspect_ratio] ?? [1024, 1024];
  return answered({
    seeds: [2130420379],
    finish_reasons: [null],
    images: [pictureOf(output_format, width, height).toString('base64')],
  });
}

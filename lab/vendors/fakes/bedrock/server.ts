/**
 * The fake of Bedrock's InvokeModel with Stability's models. The fake verifies the signature, and refuses
 * what AWS refuses, with the error's name in x-amzn-errortype.
 * https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_InvokeModel.html (read 2026-11-21)
 */
import { createHash, createHmac } from 'node:crypto';
import { readTemplate } from '../../../../local/template.ts';
import type { OutputFormat } from '../../../../service/contract/request-fields.ts';
import { synthesizedTemplate } from '../../../../start/synthesized-template.ts';
import { commonShape, type Fake, plainFields } from '../facts.ts';
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
import { answered, bedrockRows, refused } from './rows.ts';

/** Stability renders each aspect ratio at about one megapixel. */
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

/** The fake accepts signatures of this identity unless its caller names another one. */
export const fakeBedrockIdentity: AwsIdentity = {
  accessKeyId: 'FAKEBEDROCKID',
  secretAccessKey: 'fake-bedrock-key',
  sessionToken: 'fake-bedrock-session',
};
const fakeBedrockRegion = 'us-west-2';

export async function startFakeBedrock(
  identity: AwsIdentity = fakeBedrockIdentity,
  paint: Paint = pictureOf,
): Promise<FakeVendor> {
  return startFakeVendor((request) => {
    const { method, path } = request;
    const model = /^\/model\/([^/]+)\/invoke$/.exec(path)?.[1];
    if (method !== 'POST' || model === undefined)
      return refused(404, 'UnknownOperationException', 'The requested operation is not recognized.');
    const wrong = wrongSignature(request, fakeBedrockRegion, identity);
    if (wrong !== undefined)
      return refused(403, wrong, 'The security token included in the request is invalid.');
    if (!models.includes(decodeURIComponent(model)))
      return refused(400, 'ValidationException', 'The provided model identifier is invalid.');
    const checked = checkedBody(request);
    return typeof checked === 'string'
      ? refused(400, 'ValidationException', `Malformed input request: ${checked}`)
      : answerTo(checked, paint);
  });
}

interface Body {
  readonly prompt: string;
  readonly aspect_ratio: string;
  readonly output_format: OutputFormat;
}

/** The body of a request, or the name of the first field that AWS would refuse. */
function checkedBody({ headers, json }: Received): Body | string {
  if (headers['content-type'] !== 'application/json' || typeof json !== 'object' || json === null)
    return 'not JSON';
  const body = fieldsOf(json);
  const unknown = Object.keys(body).find((field) => !knownFields.includes(field));
  if (unknown !== undefined) return unknown;
  const { negative_prompt: negative = '' } = body;
  if (typeof negative !== 'string' || negative.length > 10_000) return 'negative_prompt';
  const { prompt, mode = 'text-to-image', aspect_ratio = '1:1', output_format = 'png', seed = 0 } = body;
  if (typeof prompt !== 'string' || prompt === '' || prompt.length > 10_000) return 'prompt';
  if (mode !== 'text-to-image') return 'mode';
  if (typeof aspect_ratio !== 'string' || !(aspect_ratio in pixels)) return 'aspect_ratio';
  if (output_format !== 'png' && output_format !== 'jpeg') return 'output_format';
  return typeof seed === 'number' && Number.isInteger(seed) && seed >= 0 && seed <= 4_294_967_295
    ? { prompt, aspect_ratio, output_format }
    : 'seed';
}

function answerTo({ prompt, aspect_ratio, output_format }: Body, paint: Paint): Reply {
  const row = bedrockRows.find((candidate) => candidate.row === rowOf(prompt));
  if (row?.reply) return row.reply;
  const [width, height] = pixels[aspect_ratio] ?? [1024, 1024];
  return answered({
    seeds: [2130420379],
    finish_reasons: [null],
    images: [paint(output_format, width, height).toString('base64')],
  });
}

interface AwsIdentity {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

const sha256 = (data: string | Buffer): string => createHash('sha256').update(data).digest('hex');
const hmac = (key: string | Buffer, data: string): Buffer => createHmac('sha256', key).update(data).digest();

/**
 * Computes the signature of a request as AWS documents it, and compares it with the received signature. Gives
 * the name of the error with which AWS would refuse the request; undefined when the signature is right.
 * https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
 */
function wrongSignature(
  { method, path, headers, body }: Received,
  region: string,
  identity: AwsIdentity,
): string | undefined {
  const authorization = headers['authorization'];
  if (authorization === undefined) return 'MissingAuthenticationTokenException';
  const form =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([\w-]+)\/bedrock\/aws4_request, ?SignedHeaders=([\w;-]+), ?Signature=([0-9a-f]{64})$/;
  const [, accessKeyId, day = '', scopeRegion, names = '', signature] = form.exec(authorization) ?? [];
  if (signature === undefined) return 'IncompleteSignatureException';
  if (accessKeyId !== identity.accessKeyId || headers['x-amz-security-token'] !== identity.sessionToken)
    return 'UnrecognizedClientException';
  const time = headers['x-amz-date'] ?? '';
  const signed = names.split(';');
  if (
    scopeRegion !== region ||
    !time.startsWith(day) ||
    !signed.includes('host') ||
    !signed.includes('x-amz-date')
  )
    return 'InvalidSignatureException';
  // AWS encodes the path, which is encoded already, a second time; only S3 does not.
  const canonicalPath = path.split('/').map(encodeURIComponent).join('/');
  const canonicalHeaders = signed
    .map((name) => `${name}:${(headers[name] ?? '').trim().replace(/ +/g, ' ')}\n`)
    .join('');
  const canonical = [method, canonicalPath, '', canonicalHeaders, names, sha256(body)].join('\n');
  const scope = `${day}/${region}/bedrock/aws4_request`;
  const key = [day, region, 'bedrock', 'aws4_request'].reduce<string | Buffer>(
    (secret, part) => hmac(secret, part),
    `AWS4${identity.secretAccessKey}`,
  );
  const expected = hmac(key, ['AWS4-HMAC-SHA256', time, scope, sha256(canonical)].join('\n')).toString('hex');
  return signature === expected ? undefined : 'InvalidSignatureException';
}

/**
 * On one machine, a function signs its requests with the id of its role as the access key id. Bedrock renders
 * only 1K without source images.
 */
async function renderIdentity(): Promise<AwsIdentity> {
  const { functions } = readTemplate(await synthesizedTemplate());
  const accessKeyId = functions.find(({ id }) => id.startsWith('RenderImageSmall'))?.roleId ?? '';
  return { accessKeyId, secretAccessKey: 'local' };
}

export const fakeBedrock: Fake = {
  start: async (paint) => startFakeBedrock(await renderIdentity(), paint),
  rows: bedrockRows,
  model: 'sd3.5-large',
  ways: {
    ...commonShape,
    'refused prompt': 'prompt-filter',
    'refused source': 'input-filter',
    'wrong key': 'unknown-client',
    'failed at the vendor': 'model-error',
    'timed out at the vendor': 'timed-out',
  },
  honours: { ...plainFields, negative_prompt: 'honoured' },
};

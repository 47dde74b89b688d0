/**
 * Stability's models on Amazon Bedrock. One synchronous InvokeModel, signed with the function's own role,
 * answers with the picture in base64. The client adds 50 KB to a bundle that has other clients of the SDK.
 * https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-stability-diffusion.html,
 * https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_InvokeModel.html and
 * https://docs.aws.amazon.com/bedrock/latest/userguide/troubleshooting-api-error-codes.html
 * (read 2026-11-21).
 *
 * SD 3.5's image-to-image is left out: it always renders in the ratio of the source image.
 */
import { BedrockRuntimeClient, InvokeModelCommand } from '@aws-sdk/client-bedrock-runtime';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import type { RefusalReason } from '../contract/failures.ts';
import { readVendorJson } from '../values/read-json.ts';
import { type ImageProvider, type ProviderAnswer, refusedBy, type RenderJob } from './provider.ts';
import { entryOf, fieldsOf, listOf, propertyOf, retryAfterOf } from './vendor-http.ts';

export interface BedrockSettings {
  readonly name: string;
  readonly region: string;
  /** Replaces the address of Bedrock in the region, for a fake or a proxy. */
  readonly endpoint?: string;
  /** Replaces the credentials that the SDK finds. In Lambda the SDK finds the function's role. */
  readonly credentials?: {
    readonly accessKeyId: string;
    readonly secretAccessKey: string;
    readonly sessionToken?: string;
  };
}

/** By the name of the error. 'credentials' raises an alarm: only a person can correct it. */
const reasonOfError: Readonly<Partial<Record<string, RefusalReason>>> = {
  ThrottlingException: 'unavailable',
  ModelNotReadyException: 'unavailable',
  ServiceUnavailableException: 'unavailable',
  ServiceQuotaExceededException: 'unavailable',
  ModelTimeoutException: 'timed_out',
  ModelErrorException: 'failed',
  InternalServerException: 'failed',
  InternalFailure: 'failed',
  AccessDeniedException: 'credentials',
  ResourceNotFoundException: 'credentials',
  UnrecognizedClientException: 'credentials',
  ExpiredTokenException: 'credentials',
  // AWS's common errors with status 400. Those with 403 are in the table of statuses.
  ExpiredToken: 'credentials',
  IncompleteSignature: 'credentials',
  NotAuthorized: 'credentials',
  RequestExpired: 'credentials',
  CredentialsProviderError: 'credentials',
};

const reasonOfStatus: Readonly<Partial<Record<number, RefusalReason>>> = {
  401: 'credentials',
  402: 'credentials',
  403: 'credentials',
  429: 'unavailable',
  503: 'unavailable',
};

/** By finish_reasons[0]. Null means that there is a picture. */
const reasonOfFinish: Readonly<Partial<Record<string, RefusalReason>>> = {
  'Filter reason: prompt': 'prompt',
  'Filter reason: output image': 'prompt',
  'Filter reason: input image': 'source_image',
  'Inference error': 'failed',
};

/** Codes of Node for a connection that was never made, so that nothing was sent. */
const neverConnected = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'];

/** The address that the SDK knows for the region, whatever the environment says. */
function ownEndpoint(region: string): string {
  const { config } = new BedrockRuntimeClient({ region });
  return config.endpointProvider({ Region: region }).url.origin;
}

export function createBedrock({ name, region, endpoint, credentials }: BedrockSettings): ImageProvider {
  const client = new BedrockRuntimeClient({
    region,
    // Without an endpoint, AWS_ENDPOINT_URL of a local run would redirect Bedrock as well.
    endpoint: endpoint ?? ownEndpoint(region),
    // A second try of a synchronous call would be rendered and paid a second time.
    maxAttempts: 1,
    // By default only this client speaks HTTP/2 and keeps its connection. While Lambda freezes the function,
    // the connection may die, and a call on a dead connection has an unknown outcome. So each call opens a
    // connection of its own, with HTTP/1.1.
    requestHandler: new NodeHttpHandler({
      httpAgent: { keepAlive: false },
      httpsAgent: { keepAlive: false },
    }),
    ...(credentials && { credentials }),
  });
  return {
    name,
    sends: ['negativePrompt'],
    submit: async (job, signal) => {
      if (job.sourceCount > 0) return refusedBy('unknown_answer', 'source images are not taken');
      const command = new InvokeModelCommand({
        modelId: job.providerModel,
        contentType: 'application/json',
        accept: 'application/json',
        body: bodyOf(job),
      });
      try {
        const { body } = await client.send(command, { abortSignal: signal });
        return imageOf(readVendorJson(body.transformToString()));
      } catch (error) {
        signal.throwIfAborted();
        return refusalOf(error);
      }
    },
  };
}

function bodyOf(job: RenderJob): string {
  return JSON.stringify({
    prompt: job.prompt ?? '',
    mode: 'text-to-image',
    aspect_ratio: job.aspectRatio,
    output_format: job.outputFormat,
    ...(job.seed !== null && { seed: job.seed }),
    ...(job.negativePrompt != null && { negative_prompt: job.negativePrompt }),
  });
}

function imageOf(answer: unknown): ProviderAnswer {
  const [finish] = listOf(propertyOf(answer, 'finish_reasons'));
  if (typeof finish === 'string')
    return refusedBy(entryOf(reasonOfFinish, finish) ?? 'unknown_answer', detailOf(200, finish));
  const images = propertyOf(answer, 'images');
  if (finish !== null || !Array.isArray(images)) return refusedBy('unknown_answer', detailOf(200));
  const image: unknown = images[0] ?? '';
  if (image === '') return refusedBy('nothing_rendered', detailOf(200));
  return typeof image === 'string'
    ? { kind: 'rendered', bytes: Buffer.from(image, 'base64') }
    : refusedBy('unknown_answer', detailOf(200));
}

function refusalOf(error: unknown): ProviderAnswer {
  const errorName = textOf(error, 'name');
  const status = propertyOf(propertyOf(error, '$metadata'), 'httpStatusCode');
  const known = entryOf(reasonOfError, errorName);
  if (typeof status === 'number' && status !== 200)
    return refusedBy(
      known ?? reasonOfStatus[status] ?? 'unknown_answer',
      detailOf(status, errorName),
      waitOf(error, status),
    );
  if (known !== undefined) return refusedBy(known, errorName);
  const code = textOf(error, 'code');
  return refusedBy(neverConnected.includes(code) ? 'unavailable' : 'unknown_outcome', code);
}

/** The SDK keeps the answer beside its error. It reads Retry-After itself, but only between its own tries. */
function waitOf(error: unknown, status: number): number | undefined {
  const headers = propertyOf(propertyOf(error, '$response'), 'headers');
  const texts = Object.entries(fieldsOf(headers)).filter(
    (header): header is [string, string] => typeof header[1] === 'string',
  );
  return retryAfterOf({ status, headers: new Headers(texts) });
}

/** "HTTP 429 ThrottlingException". Names and finish reasons are AWS's words; other text is left out. */
function detailOf(status: number, code = ''): string {
  return /^[\w.: -]{1,80}$/.test(code) ? `HTTP ${status} ${code}` : `HTTP ${status}`;
}

function textOf(value: unknown, key: string): string {
  const text = propertyOf(value, key);
  return typeof text === 'string' ? text : 'UNKNOWN';
}

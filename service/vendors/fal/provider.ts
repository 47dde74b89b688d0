/**
 * fal, which renders the models of several makers. The adapter puts a request into the vendor's queue, polls it
 * at the addresses that the answer names, and downloads the picture from the vendor's CDN.
 *
 * Read on 2026-11-21: https://docs.fal.ai/documentation/model-apis/inference/queue (queue, states),
 * https://docs.fal.ai/documentation/model-apis/common-parameters (headers),
 * https://docs.fal.ai/documentation/model-apis/media-expiration (what is kept, and how long),
 * https://docs.fal.ai/documentation/model-apis/request-errors and .../errors (codes),
 * https://fal.ai/docs/inference-api/queue/cancel. ./input.ts has the input of each model.
 *
 * Not verified: what `x-app-fal-disable-fallback` does beyond its name.
 */
import { billedUnits } from '../../catalog/billed-cost.ts';
import type { RefusalReason } from '../../contract/failures.ts';
import {
  type CredentialCheck,
  type ImageProvider,
  type ProviderAnswer,
  type ProviderCredentials,
  type Refused,
  refusedBy,
  type RenderJob,
  type VendorSettings,
} from '../provider.ts';
import {
  answering,
  checkByCall,
  createVendorHttp,
  detailOf,
  fieldsOf,
  unknownAnswer,
  type VendorHttp,
  type VendorResponse,
} from '../vendor-http.ts';
import {
  dataUriOf,
  download,
  foreignAddress,
  isTrouble,
  neededFor,
  pendingJob,
  polling,
  type PollOutcome,
  refusedAtOnce,
  refusedCredentials,
  type Waits,
} from '../vendor-jobs.ts';
import { createFalCallback } from './callback.ts';
import { inputOf } from './input.ts';

// Errors of fal. An error of a model is `detail: [{ type, loc }]`, an error of the platform is `error_type`.
// @see https://docs.fal.ai/documentation/model-apis/errors and .../request-errors (read 2026-11-21)

/** Every code outside this table means a failed generation. */
const reasons: Readonly<Record<string, RefusalReason>> = {
  content_policy_violation: 'prompt',
  image_load_error: 'source_image',
  image_too_small: 'source_image',
  image_too_large: 'source_image',
  file_too_large: 'source_image',
  file_download_error: 'source_image',
  unsupported_image_format: 'source_image',
  face_detection_error: 'source_image',
  no_media_generated: 'nothing_rendered',
  generation_timeout: 'timed_out',
  request_timeout: 'timed_out',
  startup_timeout: 'timed_out',
  client_cancelled: 'cancelled',
  downstream_service_unavailable: 'unavailable',
  runner_scheduling_failure: 'unavailable',
};

/** Undefined: the answer holds no code. */
function refusedByCode(response: VendorResponse): Refused | undefined {
  const { detail, error_type: platformCode } = fieldsOf(response.json);
  const { type: modelCode, loc } = fieldsOf(Array.isArray(detail) ? detail[0] : undefined);
  const code = typeof platformCode === 'string' ? platformCode : modelCode;
  if (typeof code !== 'string') return undefined;
  const reason = Object.hasOwn(reasons, code) ? (reasons[code] ?? 'failed') : 'failed';
  // `loc` names the field that broke the policy, such as ["body", "image_urls", 0].
  const isSources = reason === 'prompt' && Array.isArray(loc) && loc.includes('image_urls');
  return refusedBy(isSources ? 'source_image' : reason, detailOf(response, code));
}

const queueUrl = 'https://queue.fal.run';
/** The hosts of the API and the queue. Pictures are on other hosts, to which the key must not be sent. */
const apiHosts = ['queue.fal.run', 'fal.run'];
const mediaHosts = ['fal.media'];

/** After the queue, klein takes less than a second, pro and max take about 20 s. */
const waits: Waits = [500, 500, 1_000, 1_000, 1_500, 1_500, 2_000, 2_000, 3_000, 3_000, 4_000];

/** How many units of the model's price fal bills. The answer to the result has the header. */
const unitsHeader = 'x-fal-billable-units';

const headers = {
  // The vendor must not retry: a retry would be billed, and our next route takes over.
  'x-fal-no-retry': '1',
  // The vendor must not render with another model.
  'x-app-fal-disable-fallback': 'true',
  // Seconds within which the rendering must begin. The longest deadline of a creation is 12 min.
  'x-fal-request-timeout': '780',
  // Keeps prompt and answer out of the vendor's request history of 30 days. The result can still be polled.
  'x-fal-store-io': '0',
  'x-fal-object-lifecycle-preference': '{"expiration_duration_seconds":3600}',
};

interface Access {
  readonly name: string;
  readonly api: VendorHttp;
  readonly media: VendorHttp;
  readonly credentials: ProviderCredentials;
}

export function createFal(settings: VendorSettings): ImageProvider {
  const { name, credentials, baseUrl = queueUrl } = settings;
  const access: Access = {
    name,
    api: createVendorHttp({ baseUrl, hosts: apiHosts }),
    media: createVendorHttp({ baseUrl, hosts: mediaHosts }),
    credentials,
  };
  return {
    name,
    sends: ['quality'],
    submit: (job, signal) => answering(() => submit(access, job, signal)),
    poll: (jobId, job, signal) =>
      polling(jobId, waits, (status = '', result = '') => ask(access, job, [status, result], signal)),
    cancel: async (jobId, _job, signal) => {
      const [, , to = ''] = neededFor(jobId);
      const authorization = await authorizationOf(access);
      if (!authorization || !access.api.isOwn(to)) return 'refused';
      const { status } = await access.api.call({ method: 'PUT', to, headers: authorization, signal });
      // 202 only says that the vendor will try. 400 says that the job has ended, and 404 that there is none.
      return status >= 200 && status < 300 ? 'asked' : 'refused';
    },
    callback: createFalCallback(settings),
  };
}

async function authorizationOf({
  name,
  credentials,
}: Access): Promise<{ authorization: string } | undefined> {
  const key = await credentials.read(name);
  return key === undefined ? undefined : { authorization: `Key ${key}` };
}

async function submit(access: Access, job: RenderJob, signal: AbortSignal): Promise<ProviderAnswer> {
  const { name, api, credentials } = access;
  const authorization = await authorizationOf(access);
  if (!authorization) return refusedBy('credentials', 'no credential');
  const sources = job.sourceCount > 0 ? await job.readSources() : [];
  const { path, body } = inputOf(job, sources.map(dataUriOf));
  // In the JSON the vendor ignores the address (edenartlab/eve#566).
  const query = job.callbackUrl === undefined ? '' : `?fal_webhook=${encodeURIComponent(job.callbackUrl)}`;
  const response = await api.call({
    method: 'POST',
    to: `${path}${query}`,
    headers: { ...headers, ...authorization },
    body,
    signal,
  });
  const refused = refusedAtOnce(response, credentials, name) ?? refusedByCode(response);
  if (refused) return refused;
  const { status_url: status, response_url: result, cancel_url: cancel } = fieldsOf(response.json);
  if (
    response.status !== 200 ||
    typeof status !== 'string' ||
    typeof result !== 'string' ||
    typeof cancel !== 'string'
  )
    return unknownAnswer(response);
  return [status, result, cancel].every((url) => api.isOwn(url))
    ? pendingJob(waits, [status, result, cancel])
    : foreignAddress;
}

async function ask(
  access: Access,
  { saidEnded, unitMicros }: RenderJob,
  [statusUrl, resultUrl]: readonly [status: string, result: string],
  signal: AbortSignal,
): Promise<PollOutcome> {
  const { name, api, media, credentials } = access;
  if (!api.isOwn(statusUrl) || !api.isOwn(resultUrl)) return foreignAddress;
  const authorization = await authorizationOf(access);
  if (!authorization) return refusedBy('credentials', 'no credential');
  const get = (to: string): Promise<VendorResponse> =>
    api.call({ method: 'GET', to, headers: authorization, signal });
  const read = (result: VendorResponse): Promise<PollOutcome> => {
    const billed = billedUnits(result.headers.get(unitsHeader), unitMicros);
    return resultOf(result, (url) => download(media, url, signal, billed));
  };
  if (saidEnded) {
    // Only a completed request has pictures. Every other answer is left to the status.
    const early = await get(resultUrl);
    if (early.status === 200 && Array.isArray(fieldsOf(early.json)['images']))
      return refusedByCode(early) ?? read(early);
  }
  const status = await get(statusUrl);
  const unended = refusedCredentials(status, credentials, name) ?? unendedOf(status);
  if (unended) return unended;
  const result = await get(resultUrl);
  return refusedCredentials(result, credentials, name) ?? refusedByCode(result) ?? read(result);
}

/** Undefined: the request is completed, and its result is to be read. */
function unendedOf(response: VendorResponse): PollOutcome | undefined {
  const { status } = fieldsOf(response.json);
  switch (status) {
    case 'IN_QUEUE':
    case 'IN_PROGRESS':
      return 'working';
    case 'COMPLETED':
      // The status of a completed request can hold its error already.
      return refusedByCode(response);
    default:
      return isTrouble(response)
        ? 'trouble'
        : unknownAnswer(response, typeof status === 'string' ? status : undefined);
  }
}

async function resultOf(
  response: VendorResponse,
  fetchPicture: (url: string) => Promise<PollOutcome>,
): Promise<PollOutcome> {
  if (isTrouble(response)) return 'trouble';
  const { images, has_nsfw_concepts: flags } = fieldsOf(response.json);
  if (response.status !== 200 || !Array.isArray(images)) return unknownAnswer(response);
  // The vendor sends a flagged picture as well, but black.
  if (Array.isArray(flags) && flags.includes(true))
    return refusedBy('prompt', detailOf(response, 'has_nsfw_concepts'));
  const { url } = fieldsOf(images[0]);
  return typeof url === 'string' ? fetchPicture(url) : refusedBy('nothing_rendered', detailOf(response));
}

/** fal's platform API lies on another host than its queue. */
const platformUrl = 'https://api.fal.ai';

/** Asks for a price, which needs a key: docs.fal.ai/platform-apis/v1/models/pricing (read 2026-11-21). */
export async function checkFal(settings: VendorSettings, signal: AbortSignal): Promise<CredentialCheck> {
  const http = createVendorHttp({ baseUrl: settings.baseUrl ?? platformUrl, hosts: [] });
  const to = '/v1/models/pricing?endpoint_id=fal-ai/flux-2-pro';
  const ask = (key: string): Promise<VendorResponse> =>
    http.call({ method: 'GET', to, headers: { authorization: `Key ${key}` }, signal });
  return checkByCall(settings, ask);
}

/**
 * fal, FLUX.2: a request enters a queue, is asked for at the addresses that the answer
 * names, and its picture fetched from the vendor's CDN.
 *
 * Read on 2026-11-21: https://docs.fal.ai/documentation/model-apis/inference/queue (queue, states),
 * https://docs.fal.ai/documentation/model-apis/common-parameters (headers),
 * https://docs.fal.ai/documentation/model-apis/media-expiration (what is kept, and how long),
 * https://docs.fal.ai/documentation/model-apis/request-errors and .../errors (codes),
 * https://fal.ai/docs/inference-api/queue/cancel, and the input types of @fal-ai/client
 * (libs/client/src/types/endpoints.ts of github.com/fal-ai/fal-js, 2026-08-02).
 *
 * Not verified: pixel limits of `image_size`, how many source images pro and max take, how
 * large a data URI may be, and `x-app-fal-disable-fallback` beyond its name.
 */
import {
  refusedBy,
  type ImageProvider,
  type ProviderAnswer,
  type ProviderCredentials,
  type RenderJob,
} from '../../../core/provider.ts';
import {
  dataUriOf,
  download,
  foreignAddress,
  isTrouble,
  neededFor,
  pendingJob,
  polling,
  refusedAtOnce,
  refusedCredentials,
  type PollOutcome,
  type Waits,
} from '../vendor-jobs.ts';
import { fieldsOf } from '../vendor-json.ts';
import { fluxPixelsOf } from '../flux-pixels.ts';
import {
  answering,
  createVendorHttp,
  detailOf,
  unknownAnswer,
  type VendorHttp,
  type VendorResponse,
} from '../vendor-http.ts';
import type { VendorSettings } from '../vendor.ts';
import { refusedByCode } from './errors.ts';

const queueUrl = 'https://queue.fal.run';
/** The API's and the queue's. Pictures lie elsewhere, where the key must not go. */
const apiHosts = ['queue.fal.run', 'fal.run'];
const mediaHosts = ['fal.media'];

/** klein is done within a second of leaving the queue, pro and max in about twenty. */
const waits: Waits = [500, 500, 1_000, 1_000, 1_500, 1_500, 2_000, 2_000, 3_000, 3_000, 4_000];

const headers = {
  // An attempt of ours is an attempt: what fails goes to the next route and is not rendered, and billed, again.
  'x-fal-no-retry': '1',
  // Another model than the asked one is no answer.
  'x-app-fal-disable-fallback': 'true',
  // Seconds in which it must have begun; longer than the longest deadline (12 min), after which nobody waits.
  'x-fal-request-timeout': '780',
  // Prompt and answer stay out of the vendor's request history (30 days otherwise); the result is still there to be polled.
  'x-fal-store-io': '0',
  'x-fal-object-lifecycle-preference': '{"expiration_duration_seconds":3600}',
};

/** Fields that one model has and another has not. safety_tolerance: the default of all three vendors of FLUX.2. */
const ownFields: Readonly<Record<string, object>> = {
  'fal-ai/flux-2-pro': { safety_tolerance: '2' },
  'fal-ai/flux-2-max': { safety_tolerance: '2' },
  'fal-ai/flux-2/klein/4b': { num_images: 1 },
};

interface Access {
  readonly name: string;
  readonly api: VendorHttp;
  readonly media: VendorHttp;
  readonly credentials: ProviderCredentials;
}

export function createFal({ name, credentials, baseUrl = queueUrl }: VendorSettings): ImageProvider {
  const access: Access = {
    name,
    api: createVendorHttp({ baseUrl, hosts: apiHosts }),
    media: createVendorHttp({ baseUrl, hosts: mediaHosts }),
    credentials,
  };
  return {
    name,
    submit: (job, signal) => answering(() => submit(access, job, signal)),
    poll: (jobId, _job, signal) =>
      polling(jobId, waits, (status = '', result = '') => ask(access, status, result, signal)),
    cancel: async (jobId, _job, signal) => {
      const [, , to = ''] = neededFor(jobId);
      const authorization = await authorizationOf(access);
      if (authorization && access.api.isOwn(to))
        await access.api.call({ method: 'PUT', to, headers: authorization, signal });
    },
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
  const body = await bodyOf(job);
  const to = `/${job.providerModel}${job.sourceCount > 0 ? '/edit' : ''}`;
  const response = await api.call({
    method: 'POST',
    to,
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
  statusUrl: string,
  resultUrl: string,
  signal: AbortSignal,
): Promise<PollOutcome> {
  const { name, api, media, credentials } = access;
  if (!api.isOwn(statusUrl) || !api.isOwn(resultUrl)) return foreignAddress;
  const authorization = await authorizationOf(access);
  if (!authorization) return refusedBy('credentials', 'no credential');
  const status = await api.call({ method: 'GET', to: statusUrl, headers: authorization, signal });
  const unended = refusedCredentials(status, credentials, name) ?? unendedOf(status);
  if (unended) return unended;
  const result = await api.call({ method: 'GET', to: resultUrl, headers: authorization, signal });
  const refused = refusedCredentials(result, credentials, name) ?? refusedByCode(result);
  return refused ?? resultOf(result, (url) => download(media, url, signal));
}

async function bodyOf(job: RenderJob): Promise<object> {
  const sources = job.sourceCount > 0 ? await job.readSources() : [];
  return {
    prompt: job.prompt ?? '',
    image_size: fluxPixelsOf(job.resolution, job.aspectRatio),
    output_format: job.outputFormat,
    enable_safety_checker: true,
    ...(job.seed !== null && { seed: job.seed }),
    ...ownFields[job.providerModel],
    ...(sources.length > 0 && { image_urls: sources.map(dataUriOf) }),
  };
}

/** Undefined: the request is completed, and its result says how. */
function unendedOf(response: VendorResponse): PollOutcome | undefined {
  const { status } = fieldsOf(response.json);
  switch (status) {
    case 'IN_QUEUE':
    case 'IN_PROGRESS':
      return 'working';
    case 'COMPLETED':
      // A completed request can carry its error here already.
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
  // A flagged picture is sent all the same, blackened.
  if (Array.isArray(flags) && flags.includes(true))
    return refusedBy('prompt', detailOf(response, 'has_nsfw_concepts'));
  const { url } = fieldsOf(images[0]);
  return typeof url === 'string' ? fetchPicture(url) : refusedBy('nothing_rendered', detailOf(response));
}

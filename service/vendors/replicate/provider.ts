/**
 * FLUX.2 at Replicate. The adapter creates a prediction, polls it by its id, and downloads the picture, which
 * the vendor keeps for an hour.
 *
 * Read on 2026-11-21: the OpenAPI document of 2026-04-09 (https://replicate.com/docs/reference/http;
 * github.com/tryAGI/Replicate), https://replicate.com/docs/topics/predictions/output-files (hosts),
 * .../rate-limits, .../data-retention, https://replicate.com/changelog/2025-10-16-prediction-deadlines,
 * and the input schemas named in input.ts.
 *
 * A failed prediction has a text and no code, except for "(E005)" and the like at the end of the text.
 * Not verified: the other codes of that kind, and a model's words for a source image that it cannot read.
 */
import { billedUnits } from '../../catalog/billed-cost.ts';
import type { RefusalReason } from '../../contract/failures.ts';
import type { OutputFormat } from '../../contract/request-fields.ts';
import { fluxPixelsOf } from '../flux-pixels.ts';
import {
  type CredentialCheck,
  type ImageProvider,
  type ProviderAnswer,
  type ProviderCredentials,
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
  download,
  isTrouble,
  neededFor,
  pendingJob,
  polling,
  type PollOutcome,
  refusedAtOnce,
  refusedCredentials,
  type Waits,
} from '../vendor-jobs.ts';
import { createReplicateCallback } from './callback.ts';
import { fileAddresses } from './files.ts';

/**
 * The input of each model on Replicate.
 *
 * Input schemas read on 2026-11-21: https://replicate.com/black-forest-labs/flux-2-pro (version 00b07c32),
 * .../flux-2-max (9c23b0aa) and .../flux-2-klein-4b (8e9c42d7), each under /versions/<id>/api. Older versions
 * of flux-2-pro round pixels to multiples of 32. Not found there: the list of klein's ratios, and the values
 * of `output_megapixels` beyond "1" and "2". The schema of .../flux-3-image (ec84b8fb) as genfeedai/genfeed.ai
 * saved it on 2026-10-01; FLUX 3 takes no seed.
 */
const formats: Readonly<Record<OutputFormat, string>> = { png: 'png', jpeg: 'jpg', webp: 'webp' };

/** Up to 100. The vendor's default is 80 for pro and max, and 95 for klein. PNG ignores it. */
const outputQuality = 95;

/** @param files an address or a data URI for each source image, in order */
function inputOf(job: RenderJob, files: readonly string[]): object {
  const ofAll = {
    prompt: job.prompt ?? '',
    output_format: formats[job.outputFormat],
    output_quality: outputQuality,
  };
  if (job.providerModel.endsWith('/flux-3-image'))
    return {
      ...ofAll,
      aspect_ratio: job.aspectRatio,
      resolution: job.resolution.toLowerCase(),
      // Otherwise the model searches the web for some prompts.
      grounding: false,
      safety_tolerance: 2,
      ...(files.length > 0 && { images: files }),
    };
  const common = { ...ofAll, ...(job.seed !== null && { seed: job.seed }) };
  return job.providerModel.includes('klein')
    ? {
        ...common,
        aspect_ratio: job.aspectRatio,
        output_megapixels: megapixelsOf(job),
        ...(files.length > 0 && { images: files }),
      }
    : {
        ...common,
        aspect_ratio: 'custom',
        ...fluxPixelsOf(job.resolution, job.aspectRatio),
        // The default of all three vendors of FLUX.2.
        safety_tolerance: 2,
        ...(files.length > 0 && { input_images: files }),
      };
}

/** klein takes megapixels, of which only 1K has a known value. The catalog has no other route. */
function megapixelsOf({ resolution }: RenderJob): string {
  if (resolution !== '1K') throw new Error(`klein on Replicate renders no ${resolution}`);
  return '1';
}

const replicateUrl = 'https://api.replicate.com';

/** The vendor allows an account 3,000 polls a minute for all its jobs together. pro takes about 17 s. */
const waits: Waits = [1_000, 1_000, 1_000, 1_500, 1_500, 2_000, 2_000, 3_000, 3_000, 4_000];

/** Longer than the longest deadline (12 min). An integer with its unit, at least 5s. */
const cancelAfter = '15m';

/** What the text of a failed prediction means: the first match, or a failed generation. */
const failures: readonly (readonly [RegExp, RefusalReason])[] = [
  [/\(E005\)|sensitive|nsfw/i, 'prompt'],
  [/time[d ]*-?out/i, 'timed_out'],
];

interface Access {
  readonly name: string;
  readonly api: VendorHttp;
  /** The hosts of the pictures. The token must not be sent there. */
  readonly media: VendorHttp;
  readonly credentials: ProviderCredentials;
}

export function createReplicate(settings: VendorSettings): ImageProvider {
  const { name, credentials, baseUrl = replicateUrl } = settings;
  const access: Access = {
    name,
    api: createVendorHttp({ baseUrl, hosts: [] }),
    media: createVendorHttp({ baseUrl, hosts: ['replicate.delivery'] }),
    credentials,
  };
  return {
    name,
    submit: (job, signal) => answering(() => submit(access, job, signal)),
    poll: (jobId, job, signal) => polling(jobId, waits, (id = '') => ask(access, job, id, signal)),
    cancel: async (jobId, _job, signal) => {
      const [id = ''] = neededFor(jobId);
      const authorization = await authorizationOf(access);
      if (!authorization) return 'refused';
      const { status } = await access.api.call({
        method: 'POST',
        to: `/v1/predictions/${id}/cancel`,
        headers: authorization,
        signal,
      });
      return status >= 200 && status < 300 ? 'asked' : 'refused';
    },
    callback: createReplicateCallback({ settings, api: access.api }),
  };
}

async function authorizationOf({
  name,
  credentials,
}: Access): Promise<{ authorization: string } | undefined> {
  const key = await credentials.read(name);
  return key === undefined ? undefined : { authorization: `Bearer ${key}` };
}

async function submit(access: Access, job: RenderJob, signal: AbortSignal): Promise<ProviderAnswer> {
  const { name, api, credentials } = access;
  const authorization = await authorizationOf(access);
  if (!authorization) return refusedBy('credentials', 'no credential');
  const sources = job.sourceCount > 0 ? await job.readSources() : [];
  const files = await fileAddresses({ name, api, authorization, credentials, signal }, sources);
  if (files.kind === 'refused') return files;
  const to = `/v1/models/${job.providerModel}/predictions`;
  const headers = { ...authorization, 'cancel-after': cancelAfter };
  const response = await api.call({
    method: 'POST',
    to,
    headers,
    body: {
      input: inputOf(job, files.addresses),
      ...(job.callbackUrl !== undefined && {
        webhook: job.callbackUrl,
        webhook_events_filter: ['completed'],
      }),
    },
    signal,
  });
  return refusedAtOnce(response, credentials, name) ?? acceptedOf(response);
}

async function ask(
  access: Access,
  { unitMicros }: RenderJob,
  id: string,
  signal: AbortSignal,
): Promise<PollOutcome> {
  const { name, api, media, credentials } = access;
  const authorization = await authorizationOf(access);
  if (!authorization) return refusedBy('credentials', 'no credential');
  const response = await api.call({
    method: 'GET',
    to: `/v1/predictions/${id}`,
    headers: authorization,
    signal,
  });
  const refused = refusedCredentials(response, credentials, name);
  if (refused) return refused;
  if (isTrouble(response)) return 'trouble';
  // Only a model that is sold by the second has a price for this unit.
  const { predict_time: seconds } = fieldsOf(fieldsOf(response.json)['metrics']);
  const billed = billedUnits(seconds, unitMicros);
  return standing(response, (url) => download(media, url, signal, billed));
}

function acceptedOf(response: VendorResponse): ProviderAnswer {
  const { id, title } = fieldsOf(response.json);
  const isAccepted = response.status === 201 || response.status === 202;
  // The id becomes part of a path, so its form is checked.
  if (isAccepted && typeof id === 'string' && /^\w+$/.test(id)) return pendingJob(waits, [id]);
  return unknownAnswer(response, title === 'Input validation failed' ? 'input_validation' : undefined);
}

async function standing(
  response: VendorResponse,
  fetchPicture: (url: string) => Promise<PollOutcome>,
): Promise<PollOutcome> {
  const { status, error, output } = fieldsOf(response.json);
  switch (status) {
    case 'starting':
    case 'processing':
      return 'working';
    case 'succeeded': {
      // pro and max return an address, klein returns a list of one address.
      const url: unknown = Array.isArray(output) ? output[0] : output;
      return typeof url === 'string'
        ? fetchPicture(url)
        : refusedBy('nothing_rendered', detailOf(response, status));
    }
    case 'failed':
      return failureOf(response, typeof error === 'string' ? error : '');
    // Our own request has stopped the prediction, or the deadline of `cancel-after`.
    case 'canceled':
    case 'aborted':
      return refusedBy('cancelled', detailOf(response, status));
    default:
      return unknownAnswer(response, typeof status === 'string' ? status : undefined);
  }
}

function failureOf(response: VendorResponse, text: string): ProviderAnswer {
  const code = /\((E\d{3,5})\)/.exec(text)?.[1];
  const reason = failures.find(([pattern]) => pattern.test(text))?.[1] ?? 'failed';
  return refusedBy(reason, detailOf(response, ['failed', ...(code === undefined ? [] : [code])].join(' ')));
}

/** Asks whose token it is: replicate.com/docs/reference/http#account.get (read 2026-11-21). */
export async function checkReplicate(
  settings: VendorSettings,
  signal: AbortSignal,
): Promise<CredentialCheck> {
  const http = createVendorHttp({ baseUrl: settings.baseUrl ?? replicateUrl, hosts: [] });
  const ask = (key: string): Promise<VendorResponse> =>
    http.call({ method: 'GET', to: '/v1/account', headers: { authorization: `Bearer ${key}` }, signal });
  return checkByCall(settings, ask);
}

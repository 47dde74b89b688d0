/**
 * Ideogram 4.5, by version 2 of the vendor's API. The adapter submits a job (`async`), polls it by its id, and
 * downloads the picture, whose address expires. The vendor has no call that cancels a job.
 *
 * Read on 2026-11-22: https://developer.ideogram.ai/ideogram-api/quickstart (fields of an answer, key),
 * https://developer.ideogram.ai/ideogram-api/errors (statuses, what is billed),
 * https://developer.ideogram.ai/api-reference/images/generate/ideogram-4-5 (fields, async, dry_run), and answers of
 * the real API of 2026-10-02 that public clients have recorded (`failure_reason`, `reject_reason`).
 *
 * Not verified: the words of `failure_reason` beside content_policy_violation. A picture that the vendor withholds
 * after the rendering is billed, and so is lost money. Source images are not sent: what Ideogram bills for them in
 * this call could not be read.
 */
import type { RefusalReason } from '../contract/failures.ts';
import type { AspectRatio, Resolution } from '../contract/request-fields.ts';
import {
  type CredentialCheck,
  type ImageProvider,
  type ProviderAnswer,
  refusedBy,
  type RenderJob,
  type VendorSettings,
} from './provider.ts';
import {
  answering,
  checkByCall,
  createVendorHttp,
  detailOf,
  entryOf,
  fieldsOf,
  listOf,
  unknownAnswer,
  type VendorResponse,
} from './vendor-http.ts';
import {
  download,
  isTrouble,
  pendingJob,
  polling,
  type PollOutcome,
  refusedAtOnce,
  refusedCredentials,
  type Waits,
} from './vendor-jobs.ts';

/**
 * Width and height in Ideogram's form. Without source images, Ideogram takes only its presets. Those of 2K are
 * documented (https://docs.comfy.org/development/comfy-router/models/ideogram/ideogram-v4/code, read 2026-11-22).
 * Those of 1K are half as wide and high; only 1024x1024 and 1280x720 of them were seen in use. Of 21:9 there is no
 * preset: the nearest, 22:9, is off by 5 %.
 */
export const ideogramSizes: Readonly<
  Partial<Record<Resolution, Readonly<Partial<Record<AspectRatio, string>>>>>
> = {
  '1K': {
    '1:1': '1024x1024',
    '3:2': '1248x832',
    '2:3': '832x1248',
    '4:3': '1152x864',
    '3:4': '864x1152',
    '5:4': '1120x896',
    '4:5': '896x1120',
    '16:9': '1280x720',
    '9:16': '720x1280',
  },
  '2K': {
    '1:1': '2048x2048',
    '3:2': '2496x1664',
    '2:3': '1664x2496',
    '4:3': '2304x1728',
    '3:4': '1728x2304',
    '5:4': '2240x1792',
    '4:5': '1792x2240',
    '16:9': '2560x1440',
    '9:16': '1440x2560',
  },
};

/** Throws for 4K and for 21:9. The catalog has no such route. */
function ideogramSizeOf(resolution: Resolution, aspectRatio: AspectRatio): string {
  const size = ideogramSizes[resolution]?.[aspectRatio];
  if (size === undefined) throw new Error(`Ideogram renders no ${resolution} in ${aspectRatio}`);
  return size;
}

const ideogramUrl = 'https://api.ideogram.ai';
const pictureHosts = ['ideogram.ai'];

/** Low quality takes a few seconds, medium and high take 15 to 30 s. */
const waits: Waits = [1_000, 1_000, 1_500, 1_500, 2_000, 2_000, 3_000];

/** Any other word means that the vendor failed. A generation that fails is not billed. */
const reasonOfFailure: Readonly<Partial<Record<string, RefusalReason>>> = {
  content_policy_violation: 'prompt',
};

export function createIdeogram({ name, credentials, baseUrl = ideogramUrl }: VendorSettings): ImageProvider {
  const api = createVendorHttp({ baseUrl, hosts: [] });
  const pictures = createVendorHttp({ baseUrl, hosts: pictureHosts });
  return {
    name,
    sends: ['quality'],
    submit: (job, signal) =>
      answering(async () => {
        const key = await credentials.read(name);
        if (key === undefined) return refusedBy('credentials', 'no credential');
        const response = await api.call({
          method: 'POST',
          to: `/v2/image/generate/${job.providerModel}`,
          headers: { 'api-key': key },
          body: bodyOf(job),
          signal,
        });
        return refusedByWord(response) ?? refusedAtOnce(response, credentials, name) ?? acceptedJob(response);
      }),
    poll: (jobId, _job, signal) =>
      polling(jobId, waits, async (id = '') => {
        const key = await credentials.read(name);
        if (key === undefined) return refusedBy('credentials', 'no credential');
        const response = await api.call({
          method: 'GET',
          to: `/v2/generations/${encodeURIComponent(id)}`,
          headers: { 'api-key': key },
          signal,
        });
        const refused = refusedCredentials(response, credentials, name);
        if (refused) return refused;
        return isTrouble(response) ? 'trouble' : standing(response, (url) => download(pictures, url, signal));
      }),
  };
}

/** With a seed, the vendor must not rewrite the prompt: the same seed would then draw another prompt. */
function bodyOf(job: RenderJob): object {
  return {
    prompt: job.prompt ?? '',
    quality: job.quality ?? 'medium',
    size: ideogramSizeOf(job.resolution, job.aspectRatio),
    magic_prompt: job.seed === null ? 'auto' : 'off',
    num_images: 1,
    async: true,
    ...(job.seed !== null && { seed: job.seed }),
  };
}

/** Refusals that the status alone would misread. */
function refusedByWord(response: VendorResponse): ProviderAnswer | undefined {
  const { reject_reason: word } = fieldsOf(response.json);
  if (response.status === 422) return refusedBy('prompt', detailOf(response, word));
  // Our bill is in order: too many of our jobs run at the moment.
  return word === 'inflight_limit' && response.status === 402
    ? refusedBy('unavailable', detailOf(response, word))
    : undefined;
}

function acceptedJob(response: VendorResponse): ProviderAnswer {
  const { generation_id: id } = fieldsOf(response.json);
  return response.status === 200 && typeof id === 'string'
    ? pendingJob(waits, [id])
    : unknownAnswer(response);
}

async function standing(
  response: VendorResponse,
  fetchPicture: (url: string) => Promise<PollOutcome>,
): Promise<PollOutcome> {
  const { status, failure_reason: reason, data } = fieldsOf(response.json);
  const word = typeof reason === 'string' ? reason : undefined;
  switch (status) {
    case 'pending':
      return 'working';
    case 'failed':
      return refusedBy(
        (word === undefined ? undefined : entryOf(reasonOfFailure, word)) ?? 'failed',
        detailOf(response, word ?? 'failed'),
      );
    case 'completed': {
      const { url, is_image_safe: isSafe } = fieldsOf(listOf(data)[0]);
      if (isSafe === false) return refusedBy('prompt', detailOf(response, 'is_image_safe'));
      return typeof url === 'string' ? fetchPicture(url) : refusedBy('nothing_rendered', detailOf(response));
    }
    default:
      return unknownAnswer(response, typeof status === 'string' ? status : undefined);
  }
}

/** Lists our trained models: developer.ideogram.ai/api-reference, "List models" (read 2026-11-22). */
export async function checkIdeogram(settings: VendorSettings, signal: AbortSignal): Promise<CredentialCheck> {
  const http = createVendorHttp({ baseUrl: settings.baseUrl ?? ideogramUrl, hosts: [] });
  const ask = (key: string): Promise<VendorResponse> =>
    http.call({ method: 'GET', to: '/models', headers: { 'api-key': key }, signal });
  return checkByCall(settings, ask);
}

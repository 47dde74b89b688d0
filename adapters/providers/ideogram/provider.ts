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
import {
  refusedBy,
  type ImageProvider,
  type ProviderAnswer,
  type RefusalReason,
  type RenderJob,
} from '../../../core/provider.ts';
import { answering, createVendorHttp, detailOf, unknownAnswer, type VendorResponse } from '../vendor-http.ts';
import {
  download,
  isTrouble,
  pendingJob,
  polling,
  refusedAtOnce,
  refusedCredentials,
  type PollOutcome,
  type Waits,
} from '../vendor-jobs.ts';
import { entryOf, fieldsOf, listOf } from '../vendor-json.ts';
import type { VendorSettings } from '../vendor.ts';
import { ideogramSizeOf } from './sizes.ts';

export const ideogramUrl = 'https://api.ideogram.ai';
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

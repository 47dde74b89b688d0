/**
 * Black Forest Labs, FLUX.2: a job is submitted, asked for at the address that the answer
 * names, and its picture fetched within ten minutes. The vendor cannot cancel.
 *
 * Read on 2026-11-21: the OpenAPI document of 2026-05-01 (https://api.bfl.ai/openapi.json),
 * https://docs.bfl.ai/api_integration/integration_guidelines (hosts, polling_url),
 * https://docs.bfl.ai/api_integration/errors (states, statuses),
 * https://help.bfl.ai/articles/9532536301-which-api-endpoint-should-i-use (hosts).
 *
 * Not verified: which words `details` blames a source image with (see `blamesSource`), the
 * body of a 400, the state "Failed", and how large a source image may be.
 */
import {
  refusedBy,
  type ImageProvider,
  type ProviderAnswer,
  type RefusalReason,
  type RenderJob,
} from '../../../core/provider.ts';
import { answering, createVendorHttp, detailOf, unknownAnswer, type VendorResponse } from '../vendor-http.ts';
import type { VendorSettings } from '../vendor.ts';
import {
  base64Of,
  download,
  foreignAddress,
  isTrouble,
  pendingJob,
  polling,
  refusedAtOnce,
  refusedCredentials,
  type PollOutcome,
  type Waits,
} from '../vendor-jobs.ts';
import { fieldsOf } from '../vendor-json.ts';
import { fluxPixelsOf } from '../flux-pixels.ts';

export const bflUrl = 'https://api.bfl.ai';

/** Polling addresses lie at api.*.bfl.ai, pictures at delivery.*.bfl.ai; the vendor says that the regions may change. */
export const bflHosts = ['bfl.ai'];

/** klein is done within a second, pro and max in ten to thirty; the vendor's own examples ask every half second. */
const waits: Waits = [500, 500, 1_000, 1_000, 1_000, 1_500, 1_500, 2_000, 2_000, 3_000];

/** The default of all three vendors of FLUX.2, so that whether a prompt passes does not depend on the route. */
const safetyTolerance = 2;

/** States that end a job without a picture. */
const ends: Readonly<Record<string, RefusalReason>> = {
  'Request Moderated': 'prompt',
  'Content Moderated': 'prompt',
  Error: 'failed',
  Failed: 'failed',
  'Task not found': 'unknown_answer',
};

export function createBfl({ name, credentials, baseUrl = bflUrl }: VendorSettings): ImageProvider {
  const http = createVendorHttp({ baseUrl, hosts: bflHosts });
  return {
    name,
    submit: (job, signal) =>
      answering(async () => {
        const key = await credentials.read(name);
        if (key === undefined) return refusedBy('credentials', 'no credential');
        const body = await bodyOf(job);
        const response = await http.call({
          method: 'POST',
          to: `/v1/${job.providerModel}`,
          headers: { 'x-key': key },
          body,
          signal,
        });
        const refused = refusedAtOnce(response, credentials, name) ?? endOf(response, job);
        if (refused) return refused;
        const { polling_url: pollingUrl } = fieldsOf(response.json);
        if (response.status !== 200 || typeof pollingUrl !== 'string')
          return refusedInput(response) ?? unknownAnswer(response, validationOf(response).type);
        return http.isOwn(pollingUrl) ? pendingJob(waits, [pollingUrl]) : foreignAddress;
      }),
    poll: (jobId, job, signal) =>
      polling(jobId, waits, async (pollingUrl = '') => {
        if (!http.isOwn(pollingUrl)) return foreignAddress;
        const key = await credentials.read(name);
        if (key === undefined) return refusedBy('credentials', 'no credential');
        const response = await http.call({
          method: 'GET',
          to: pollingUrl,
          headers: { 'x-key': key },
          signal,
        });
        const refused = endOf(response, job) ?? refusedCredentials(response, credentials, name);
        if (refused) return refused;
        return isTrouble(response) ? 'trouble' : standing(response, (url) => download(http, url, signal));
      }),
  };
}

async function bodyOf(job: RenderJob): Promise<object> {
  const sources = job.sourceCount > 0 ? await job.readSources() : [];
  return {
    prompt: job.prompt ?? '',
    ...fluxPixelsOf(job.resolution, job.aspectRatio),
    ...(job.seed !== null && { seed: job.seed }),
    safety_tolerance: safetyTolerance,
    output_format: job.outputFormat,
    ...Object.fromEntries(
      sources.map((source, index) => [
        index === 0 ? 'input_image' : `input_image_${index + 1}`,
        base64Of(source),
      ]),
    ),
  };
}

/** How a job ended that gave no picture; undefined: it has not, or it gave one. A submission may be moderated at once. */
function endOf(response: VendorResponse, job: RenderJob): ProviderAnswer | undefined {
  const { status, details } = fieldsOf(response.json);
  if (typeof status !== 'string' || !Object.hasOwn(ends, status)) return undefined;
  const isSources = status === 'Request Moderated' && job.sourceCount > 0 && blamesSource(details);
  return refusedBy(
    isSources ? 'source_image' : (ends[status] ?? 'unknown_answer'),
    detailOf(response, status),
  );
}

/** "Image 2" or "Input Image" among the reasons: seen in the wild, and documented nowhere. */
function blamesSource(details: unknown): boolean {
  const reasons = fieldsOf(details)['Moderation Reasons'];
  return (
    Array.isArray(reasons) &&
    reasons.some((reason) => typeof reason === 'string' && /^(input )?image\b/i.test(reason))
  );
}

async function standing(
  response: VendorResponse,
  fetchPicture: (url: string) => Promise<PollOutcome>,
): Promise<PollOutcome> {
  const { status, result } = fieldsOf(response.json);
  if (status === 'Pending') return 'working';
  if (status !== 'Ready') return unknownAnswer(response, typeof status === 'string' ? status : undefined);
  const { sample } = fieldsOf(result);
  return typeof sample === 'string'
    ? fetchPicture(sample)
    : refusedBy('nothing_rendered', detailOf(response, status));
}

/** A 422 says in `loc` which field is wrong: one of ours, or a source image. */
function refusedInput(response: VendorResponse): ProviderAnswer | undefined {
  const { type, field } = validationOf(response);
  return field?.startsWith('input_image') ? refusedBy('source_image', detailOf(response, type)) : undefined;
}

function validationOf({ json }: VendorResponse): { readonly type?: string; readonly field?: string } {
  const { detail } = fieldsOf(json);
  const { type, loc } = fieldsOf(Array.isArray(detail) ? detail[0] : undefined);
  const field: unknown = Array.isArray(loc) ? loc.at(-1) : undefined;
  return { ...(typeof type === 'string' && { type }), ...(typeof field === 'string' && { field }) };
}

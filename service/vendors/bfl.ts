/**
 * FLUX.2 at Black Forest Labs. The adapter submits a job, polls it at the address that the answer names, and
 * downloads the picture, which the vendor keeps for ten minutes. The vendor cannot cancel a job.
 *
 * Read on 2026-11-21: the OpenAPI document of 2026-05-01 (https://api.bfl.ai/openapi.json),
 * https://docs.bfl.ai/api_integration/integration_guidelines (hosts, polling_url),
 * https://docs.bfl.ai/api_integration/errors (states, statuses),
 * https://help.bfl.ai/articles/9532536301-which-api-endpoint-should-i-use (hosts). Read on 2026-11-22 for flex
 * and klein 9B: the vendor's github.com/black-forest-labs/skills, skills/bfl-api (paths, source images).
 *
 * Not verified: the words by which `details` blames a source image (see `blamesSource`), the body of a 400,
 * the state "Failed", and the largest size of a source image.
 */
import { billedUnits } from '../catalog/billed-cost.ts';
import type { RefusalReason } from '../contract/failures.ts';
import { fromUsd } from '../values/money.ts';
import { fluxPixelsOf } from './flux-pixels.ts';
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
  fieldsOf,
  unknownAnswer,
  type VendorResponse,
} from './vendor-http.ts';
import {
  base64Of,
  download,
  foreignAddress,
  isTrouble,
  pendingJob,
  polling,
  type PollOutcome,
  refusedAtOnce,
  refusedCredentials,
  type Waits,
} from './vendor-jobs.ts';

const bflUrl = 'https://api.bfl.ai';

/** Polls go to api.<region>.bfl.ai, pictures come from delivery.<region>.bfl.ai. Regions may change. */
const bflHosts = ['bfl.ai'];

/** klein takes under a second, pro and max 10 to 30 s. The vendor's examples poll every half second. */
const waits: Waits = [500, 500, 1_000, 1_000, 1_000, 1_500, 1_500, 2_000, 2_000, 3_000];

/** The default of all three vendors of FLUX.2, so that no prompt passes on one route alone. */
const safetyTolerance = 2;

/** What a credit costs. `cost` of an accepted job is in credits: 3 for a picture of a megapixel at 0.03 USD. */
const creditMicros = fromUsd(0.01);

/** The states in which a job has ended without a picture. */
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
        const { polling_url: pollingUrl, cost } = fieldsOf(response.json);
        if (response.status !== 200 || typeof pollingUrl !== 'string')
          return refusedInput(response) ?? unknownAnswer(response, validationOf(response).type);
        if (!http.isOwn(pollingUrl)) return foreignAddress;
        // Only this answer has the cost, so the job's id carries the cost to the polls.
        const credits = billedUnits(cost, creditMicros) === undefined ? [] : [String(cost)];
        return pendingJob(waits, [pollingUrl, ...credits]);
      }),
    poll: (jobId, job, signal) =>
      polling(jobId, waits, async (pollingUrl = '', credits = '') => {
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
        return isTrouble(response)
          ? 'trouble'
          : standing(response, (url) => download(http, url, signal, billedUnits(credits, creditMicros)));
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

/** Why a job ended without a picture. Undefined: it has not, or has one. A submission can be moderated. */
function endOf(response: VendorResponse, job: RenderJob): ProviderAnswer | undefined {
  const { status, details } = fieldsOf(response.json);
  if (typeof status !== 'string' || !Object.hasOwn(ends, status)) return undefined;
  const isSources = status === 'Request Moderated' && job.sourceCount > 0 && blamesSource(details);
  return refusedBy(
    isSources ? 'source_image' : (ends[status] ?? 'unknown_answer'),
    detailOf(response, status),
  );
}

/** Whether a reason begins with "Image" or "Input Image". Seen in real answers, in no document. */
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

/** A 422 names the wrong field in `loc`. Only a source image is the client's fault. */
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

/** Asks for our credits: docs.bfl.ai/api-reference/utility/get-the-users-credits (read 2026-11-21). */
export async function checkBfl(settings: VendorSettings, signal: AbortSignal): Promise<CredentialCheck> {
  const http = createVendorHttp({ baseUrl: settings.baseUrl ?? bflUrl, hosts: bflHosts });
  const ask = (key: string): Promise<VendorResponse> =>
    http.call({ method: 'GET', to: '/v1/credits', headers: { 'x-key': key }, signal });
  return checkByCall(settings, ask);
}
